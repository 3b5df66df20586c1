# ruff: noqa: RUF001 - letters of many languages
"""Texts of many languages in the encodings that people have them in, none of which is marked."""

from __future__ import annotations

import pytest

from interlace.resources.documents.extractor import Extractor
from interlace.resources.documents.formats.encodings import guess

WESTERN = ("cp1252", "latin_1", "iso8859_15", "mac_roman", "cp850")
TEXTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "fr": (
        "Le café coûte très cher à Orléans. Nous avons mangé des crêpes près de la forêt, où l'été était déjà là. Ça va être une fête !",
        WESTERN,
    ),
    "de": (
        "Die Straße ist schön und grün. Wir müssen über die Brücke gehen, weil das Wetter heute nicht so gut für Ausflüge ist.",
        WESTERN,
    ),
    "es": (
        "El niño comió una manzana en la mañana. ¿Dónde está la estación? El señor García llegó a León después del almuerzo.",
        WESTERN,
    ),
    "pt": (
        "A situação não é fácil. Amanhã as crianças vão à praia e os avós também. São Paulo é uma cidade de milhões de habitantes.",
        WESTERN,
    ),
    "it": (
        "La città è così bella perché c'è il sole. Lunedì andrò all'università e più tardi mangerò un gelato.",
        WESTERN,
    ),
    "sv": (
        "Räksmörgås är en svensk rätt. Vi åker till sjön på lördag och äter köttbullar när vi är hungriga.",
        WESTERN,
    ),
    "no": (
        "Blåbærsyltetøy er godt på brød. Vi går på ski i påsken og spiser rømmegrøt når vi kommer hjem.",
        WESTERN,
    ),
    "da": (
        "Rødgrød med fløde er en dansk ret. Børnene løber på gaden, og æblerne er modne i september måned.",
        WESTERN,
    ),
    "fi": (
        "Hyvää päivää! Tämä on lyhyt teksti, jossa on äitejä ja öitä. Minä menen töihin joka päivä.",
        WESTERN,
    ),
    "is": (
        "Það er kalt á Íslandi og við förum í sund. Þetta er ágæt bók sem ég keypti í gær fyrir móður mína.",
        WESTERN,
    ),
    "nl": (
        "De coëfficiënt is geïnstalleerd in de één of andere Oekraïense fabriek; het is een zeeën van tijd voor België.",
        WESTERN,
    ),
    "ca": (
        "Això és una prova de llengua catalana: l'àvia no pot venir perquè està malalta; demà anirem a València.",
        WESTERN,
    ),
    "pl": (
        "Zażółć gęślą jaźń. W szczebrzeszynie chrząszcz brzmi w trzcinie i nie jest to łatwe do powiedzenia.",
        ("cp1250", "iso8859_2", "cp852", "mac_latin2"),
    ),
    "cs": (
        "Příliš žluťoučký kůň úpěl ďábelské ódy. Je to věta, která se používá pro testování všech písmen.",
        ("cp1250", "iso8859_2", "cp852", "mac_latin2"),
    ),
    "sk": (
        "Vyšší vŕšok je ľahšie nájsť. Všetko, čo sa dá kúpiť, je na trhu a stôl je veľký.",
        ("cp1250", "iso8859_2", "cp852"),
    ),
    "hu": (
        "Árvíztűrő tükörfúrógép. Az időjárás ma nagyon szép, és a gyerekek a kertben játszanak, hogy ne legyen baj.",
        ("cp1250", "iso8859_2", "cp852"),
    ),
    "ro": (
        "Aceasta este o propoziţie în limba română şi nu este foarte lungă. Oraşul Iaşi este în nord, iar fraţii mănâncă.",
        ("cp1250", "iso8859_2"),
    ),
    "hr": (
        "Šećer i čaj su na stolu, a đak uči za školu. Ne može se reći da je to loše.",
        ("cp1250", "iso8859_2"),
    ),
    "tr": (
        "Bugün hava çok güzel ve çocuklar bahçede oynuyor. İstanbul'da yaşayan kişilerin sayısı arttı, şimdi ağaçlar yeşil.",
        ("cp1254", "iso8859_9"),
    ),
    "lt": (
        "Šiandien labai gražus oras ir mes einame į mišką. Ąžuolas yra žalias, o upė teka pro miestą, kad būtų gražu.",
        ("cp1257",),
    ),
    "lv": (
        "Šodien ir ļoti skaista diena un mēs ejam uz mežu. Bērni spēlējas pagalmā, bet vecāki strādā ar lāpstām.",
        ("cp1257",),
    ),
    "et": (
        "Täna on ilus ilm ja lapsed mängivad õues. Žürii otsustas, et šokolaad on parim, aga õunad ka.",
        ("cp1257", "cp1252"),
    ),
    "ru": (
        "Сегодня хорошая погода, и дети играют во дворе. Мы пойдём в лес за грибами, если не будет дождя.",
        ("cp1251", "koi8_r", "cp866", "iso8859_5"),
    ),
    "el": (
        "Σήμερα ο καιρός είναι καλός και τα παιδιά παίζουν στην αυλή του σχολείου μετά το μάθημα.",
        ("cp1253", "iso8859_7"),
    ),
    "ja": (
        "今日は天気がいいので、子供たちは庭で遊んでいます。コーヒーを飲みながら本を読みました。",
        ("cp932", "euc_jp"),
    ),
    "zh": ("今天天气很好，孩子们在院子里玩。我们去公园散步，然后回家吃饭。", ("gb18030", "gbk")),
    "tw": ("今天天氣很好，孩子們在院子裡玩。我們去公園散步，然後回家吃飯。", ("big5",)),
    "ko": ("오늘은 날씨가 좋아서 아이들이 마당에서 놀고 있습니다. 우리는 공원에 갔습니다.", ("cp949",)),
    "he": ("היום מזג האוויר יפה והילדים משחקים בחצר. אנחנו הולכים לפארק אחרי הצהריים.", ("cp1255",)),
    "ar": ("الطقس جميل اليوم والأطفال يلعبون في الساحة. سنذهب إلى الحديقة بعد الظهر.", ("cp1256",)),
    "csv": ("Nom;Prix;Ville\nCafé;1,5;Orléans\n", ("cp1252", "latin_1", "iso8859_15", "mac_roman")),
    "w": ("“Smart” quotes – and it’s €5… in English", ("cp1252",)),
    "euro": ("Prix: 5 €, cœur, œuf", ("iso8859_15", "cp1252")),
    "short": ("Café", ("cp1252", "latin_1")),
    "sv1": ("Räksmörgås", ("cp1252",)),
    "no1": ("Blåbærsyltetøy", ("cp1252",)),
    "cp": ("così", ("cp1252",)),
    "deg": ("20 °C ± 2 µm", ("cp1252",)),
    "es1": ("año", ("cp1252",)),
    "de1": ("Müller GmbH; Größe; Öl", ("cp1252", "mac_roman", "cp850")),
}
CASES = [(text, encoding) for text, encodings in TEXTS.values() for encoding in encodings]


@pytest.mark.parametrize("times", [1, 20])
@pytest.mark.parametrize(("text", "encoding"), CASES)
def test_what_was_written_is_read(text: str, encoding: str, times: int) -> None:
    content = (text * times).encode(encoding, "ignore")
    assert content.decode(guess(content).name) == content.decode(encoding)


async def test_a_document_keeps_its_letters() -> None:
    content = "Le café coûte très cher à Orléans.".encode("latin-1")
    found = await Extractor().extract(content, name="a.txt")
    assert found.blocks[0].text == "Le café coûte très cher à Orléans."
    table = "Nom;Prix;Ville\nCafé;1,5;Orléans\n".encode("latin-1")
    assert (await Extractor().extract(table, name="a.csv")).blocks[0].rows[1] == ("Café", "1,5", "Orléans")


@pytest.mark.parametrize(
    "head", ["", "<meta charset=utf-8>", "<meta charset='iso-8859-1'>", "<meta charset=nonsense>"]
)
async def test_a_page_keeps_its_letters_whatever_it_declares(head: str) -> None:
    content = f"<html><head>{head}</head><body><p>Der Weg führt über “Österreich” für 5 €.</p></body></html>".encode(
        "cp1252"
    )
    found = await Extractor().extract(content, name="a.html")
    assert found.blocks[0].text == "Der Weg führt über “Österreich” für 5 €."


def test_bytes_of_no_language_are_not_sure() -> None:
    assert not guess(bytes(range(128, 160)) + b"abcdefghijklmnop qrstuvwxyz" * 20).sure
