"""What the generator draws from: nouns, kinds of columns, and how each dialect spells their types."""

from collections.abc import Mapping

SUBJECTS = tuple(
    "account address article basket booking branch campaign carrier case channel claim contract coupon customer "
    "delivery device employee event invoice item lead ledger location order partner payment plan policy price product "
    "project promotion quote refund region request return session shipment store subscription supplier ticket "
    "vehicle visit voucher warehouse".split()
)

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "key": tuple(f"{subject}_id" for subject in SUBJECTS),
    "text": tuple(
        "name status channel country_code city email phone note category brand segment language source currency "
        "street postcode title comment reference tier".split()
    ),
    "amount": tuple("gross net tax discount price cost margin balance fee revenue budget weight".split()),
    "count": tuple("quantity visits clicks attempts lines units seats days retries age".split()),
    "date": tuple("created_on updated_on shipped_on paid_on due_on opened_on closed_on valid_from valid_to".split()),
    "flag": tuple("is_active is_deleted is_test is_paid is_new is_primary".split()),
}

MIXTURE = ("key", "key", "text", "text", "text", "amount", "amount", "count", "date", "date", "flag")
"""The kinds of columns as often as tables have them."""

TYPES: Mapping[str, Mapping[str, str]] = {
    "": {
        "key": "bigint", "text": "varchar(80)", "amount": "decimal(18, 2)", "count": "int", "date": "date",
        "flag": "boolean",
    },
    "bigquery": {
        "key": "int64", "text": "string", "amount": "numeric", "count": "int64", "date": "date", "flag": "bool",
    },
    "snowflake": {
        "key": "number(38, 0)", "text": "varchar", "amount": "number(18, 2)", "count": "number(9, 0)", "date": "date",
        "flag": "boolean",
    },
    "spark": {
        "key": "bigint", "text": "string", "amount": "decimal(18, 2)", "count": "int", "date": "date",
        "flag": "boolean",
    },
    "tsql": {
        "key": "bigint", "text": "nvarchar(80)", "amount": "decimal(18, 2)", "count": "int", "date": "date",
        "flag": "bit",
    },
}  # fmt: skip


def type_of(kind: str, dialect: str) -> str:
    """A kind of column in the words of a dialect; what has no row of its own speaks generic SQL."""
    return TYPES.get(dialect, TYPES[""])[kind]
