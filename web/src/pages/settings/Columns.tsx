import { useId } from 'react'
import { useT } from '@/i18n/t'

interface Props {
  title: string
  data: { key: string; label: string; value: number }[]
  format: (value: number) => string
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [640, 180, 64, 20]

/** A round number at or above the highest value. */
export function ceiling(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

/** A chart of columns; those who do not see it get the numbers as a table. */
export function Columns({ title, data, format }: Props) {
  const t = useT()
  const id = useId()
  const top = ceiling(Math.max(...data.map((one) => one.value)))
  const step = (WIDTH - LEFT) / data.length
  const y = (value: number) => 8 + (HEIGHT - BOTTOM - 8) * (1 - value / top)
  const every = Math.ceil(data.length / 6)
  return (
    <figure>
      <figcaption id={id} className="mb-2 text-[13px] font-semibold">
        {title}
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className="w-full" role="img" aria-labelledby={id}>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line x1={LEFT} x2={WIDTH} y1={y(top * part)} y2={y(top * part)} className="stroke-line" />
            <text x={LEFT - 8} y={y(top * part) + 4} textAnchor="end" className="fill-mute text-[11px]">
              {format(top * part)}
            </text>
          </g>
        ))}
        {data.map((one, index) => (
          <g key={one.key}>
            <title>{`${one.label}: ${format(one.value)}`}</title>
            <rect x={LEFT + index * step} y={8} width={step} height={HEIGHT - BOTTOM - 8} className="fill-transparent hover:fill-sunken" />
            {one.value > 0 && <rect x={LEFT + index * step + step * 0.15} width={step * 0.7} y={Math.min(y(one.value), HEIGHT - BOTTOM - 2)} height={Math.max(HEIGHT - BOTTOM - y(one.value), 2)} rx={Math.min(3, step * 0.2)} className="pointer-events-none fill-accent" />}
            {index % every === 0 && (
              <text x={LEFT + index * step + step / 2} y={HEIGHT - 4} textAnchor="middle" className="fill-mute text-[11px]">
                {one.label}
              </text>
            )}
          </g>
        ))}
      </svg>
      <table className="sr-only">
        <caption>{title}</caption>
        <thead>
          <tr>
            <th scope="col">{t('settings.day')}</th>
            <th scope="col">{t('settings.value')}</th>
          </tr>
        </thead>
        <tbody>
          {data.filter((one) => one.value > 0).map((one) => (
            <tr key={one.key}>
              <th scope="row">{one.label}</th>
              <td>{format(one.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
