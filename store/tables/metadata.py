"""What every table is registered with, for the migrations."""

from sqlalchemy import MetaData

metadata = MetaData()
