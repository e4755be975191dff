"""Django compiles queries of its models: joins of their relations, aliases `T4` and `U0`, subqueries of filters."""

from collections.abc import Callable, Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

from lineage_pipeline_tests.oracles.rewrites.queries import Corpus, Query
from lineage_pipeline_tests.oracles.rewrites.rewriter import Rewritten

TABLES = {
    "s_customers": "id int, name varchar(20), region varchar(20)",
    "s_orders": "id int, customer_id int, amount int, status varchar(20)",
    "s_items": "id int, order_id int, sku varchar(20), price int",
}

ENGINES = {"postgres": "django.db.backends.postgresql", "sqlite": "django.db.backends.sqlite3"}
"""The backends of Django by our names of dialects; those of the others need drivers of databases."""

Models = SimpleNamespace
Asked = Callable[[Models], Any]


@cache
def define_models() -> Models:
    """The models, and the functions of Django that queries call."""
    import django
    from django.conf import settings

    names = {"default": ENGINES["sqlite"], **ENGINES}
    databases = {name: {"ENGINE": engine, "NAME": ":memory:"} for name, engine in names.items()}
    settings.configure(DATABASES=databases, INSTALLED_APPS=[__package__])
    django.setup()
    from django.db import models
    from django.db.models import functions

    def define(model: str, **fields: Any) -> Any:
        meta = type("Meta", (), {"app_label": __package__.rpartition(".")[2], "db_table": f"s_{model}"})
        return type(model.title(), (models.Model,), {"__module__": __name__, "Meta": meta, **fields})

    def key() -> Any:
        return models.IntegerField(primary_key=True)

    text, number = models.CharField, models.IntegerField
    customers = define("customers", id=key(), name=text(max_length=20), region=text(max_length=20, null=True))
    number_key = key()  # Django orders fields as they were made, not as they are listed
    to_customer = models.ForeignKey(customers, models.CASCADE, related_name="orders")
    orders = define("orders", id=number_key, customer=to_customer, amount=number(), status=text(max_length=20))
    number_key = key()
    to_order = models.ForeignKey(orders, models.CASCADE, related_name="items", null=True)
    items = define("items", id=number_key, order=to_order, sku=text(max_length=20), price=number())
    return SimpleNamespace(customers=customers, orders=orders, items=items, db=models, fn=functions)


QUERIES: Mapping[str, Asked] = {
    "select id, name, region from s_customers": lambda m: m.customers.objects.all(),
    "select id, name from s_customers where region = 'n' order by name": lambda m: (
        m.customers.objects.filter(region="n").order_by("name").values("id", "name")
    ),
    "select id from s_customers where not (region = 'n' and region is not null)": lambda m: m.customers.objects.exclude(
        region="n"
    ).values("id"),
    "select distinct status from s_orders": lambda m: m.orders.objects.values("status").distinct(),
    "select o.id, c.name as customer__name from s_orders o join s_customers c on o.customer_id = c.id": lambda m: (
        m.orders.objects.values("id", "customer__name")
    ),
    "select i.sku, c.region as order__customer__region from s_items i left join s_orders o on i.order_id = o.id "
    "left join s_customers c on o.customer_id = c.id": lambda m: m.items.objects.values(
        "sku", "order__customer__region"
    ),
    "select i.id from s_items i join s_orders o on i.order_id = o.id join s_customers c on o.customer_id = c.id "
    "where c.region = 'n'": lambda m: m.items.objects.filter(order__customer__region="n").values("id"),
    "select status, sum(amount) as total, count(id) as n from s_orders group by status": lambda m: (
        m.orders.objects.values("status").annotate(total=m.db.Sum("amount"), n=m.db.Count("id"))
    ),
    "select status, sum(amount) as total from s_orders group by status having sum(amount) > 5": lambda m: (
        m.orders.objects.values("status").annotate(total=m.db.Sum("amount")).filter(total__gt=5)
    ),
    "select c.name, count(o.id) as n from s_customers c left join s_orders o on c.id = o.customer_id "
    "group by c.name": lambda m: m.customers.objects.values("name").annotate(n=m.db.Count("orders")),
    "select id, (amount + (customer_id * 2)) as x from s_orders": lambda m: m.orders.objects.annotate(
        x=m.db.F("amount") + m.db.F("customer_id") * 2
    ).values("id", "x"),
    "select id, case when amount > 3 then status else 'small' end as size from s_orders": lambda m: (
        m.orders.objects.annotate(
            size=m.db.Case(m.db.When(amount__gt=3, then="status"), default=m.db.Value("small"))
        ).values("id", "size")
    ),
    "select id, coalesce(region, upper(name)) as place from s_customers": lambda m: m.customers.objects.annotate(
        place=m.fn.Coalesce("region", m.fn.Upper("name"))
    ).values("id", "place"),
    "select id, row_number() over (partition by status order by amount) as at from s_orders": lambda m: (
        m.orders.objects.annotate(at=m.db.Window(m.fn.RowNumber(), partition_by="status", order_by="amount")).values(
            "id", "at"
        )
    ),
    "select id, sum(amount) over (partition by customer_id) as total from s_orders": lambda m: (
        m.orders.objects.annotate(total=m.db.Window(m.db.Sum("amount"), partition_by="customer_id")).values(
            "id", "total"
        )
    ),
    "select id, at from (select id, status, amount, row_number() over (partition by status order by amount) as at "
    "from s_orders) q where at = 1": lambda m: (
        m.orders.objects.annotate(at=m.db.Window(m.fn.RowNumber(), partition_by="status", order_by="amount"))
        .filter(at=1)
        .values("id", "at")
    ),
    "select id from s_customers where id in (select customer_id from s_orders where amount > 3)": lambda m: (
        m.customers.objects.filter(id__in=m.orders.objects.filter(amount__gt=3).values("customer_id")).values("id")
    ),
    "select c.id from s_customers c where exists (select 1 from s_orders o where o.customer_id = c.id "
    "and o.status = 'open')": lambda m: m.customers.objects.filter(
        m.db.Exists(m.orders.objects.filter(customer=m.db.OuterRef("pk"), status="open"))
    ).values("id"),
    "select c.id, (select o.amount from s_orders o where o.customer_id = c.id order by o.id desc limit 1) as last "
    "from s_customers c": lambda m: m.customers.objects.annotate(
        last=m.db.Subquery(m.orders.objects.filter(customer=m.db.OuterRef("pk")).order_by("-id").values("amount")[:1])
    ).values("id", "last"),
    "select name from s_customers union all select sku from s_items": lambda m: m.customers.objects.values_list(
        "name"
    ).union(m.items.objects.values_list("sku"), all=True),
    "select id from s_customers union select customer_id from s_orders": lambda m: m.customers.objects.values_list(
        "id"
    ).union(m.orders.objects.values_list("customer_id")),
    "select id from s_customers intersect select customer_id from s_orders": lambda m: m.customers.objects.values_list(
        "id"
    ).intersection(m.orders.objects.values_list("customer_id")),
    "select c.id, sum(case when o.status = 'open' then o.amount end) as open from s_customers c "
    "left join s_orders o on c.id = o.customer_id group by c.id": lambda m: m.customers.objects.values("id").annotate(
        open=m.db.Sum("orders__amount", filter=m.db.Q(orders__status="open"))
    ),
    "select id, cast(amount as varchar(9)) as text from s_orders": lambda m: m.orders.objects.annotate(
        text=m.fn.Cast("amount", m.db.CharField(max_length=9))
    ).values("id", "text"),
    "select i.id, i.order_id, i.sku, i.price, o.id, o.customer_id, o.amount, o.status from s_items i "
    "left join s_orders o on i.order_id = o.id": lambda m: m.items.objects.select_related("order"),
}
"""Queries as people write them, each with the call of Django that asks the same."""


def compile_queries(dialect: str) -> tuple[Corpus, list[Rewritten]]:
    """The queries as people write them, and as Django does."""
    models = define_models()
    from django.db import connections

    made = [
        Rewritten(Query("Django", sql), f"create view asked as {_compile(ask(models), connections[dialect])}")
        for sql, ask in QUERIES.items()
    ]
    return Corpus(dialect, TABLES, tuple(item.query for item in made)), made


def _compile(asked: Any, connection: Any) -> str:
    """The text that Django sends, with its arguments in their places."""
    text, arguments = asked.query.get_compiler(connection=connection).as_sql()
    return str(text % tuple(f"'{value}'" if isinstance(value, str) else value for value in arguments))
