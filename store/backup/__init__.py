"""Copies of everything an installation keeps, in a form that any later version and either kind of database reads."""

from interlace.store.backup.archive import Backup, check_backup, make_backup
from interlace.store.backup.restoring import restore_backup

__all__ = ["Backup", "check_backup", "make_backup", "restore_backup"]
