"""Drops indexes whose columns another index begins with. They cost every write, and before the first ANALYZE the planner
preferred them: tracking then read all orders of a seller.
"""

import django.db.models.deletion
from django.db import migrations, models

# Table, column, and the name of the index.
_INDEXES = (
    ("integration_invoice", "seller_id", "integration_invoice_seller_id_02ec57ec"),
    ("integration_invoicelink", "invoice_id", "integration_invoicelink_invoice_id_4aaf1e1f"),
    ("integration_invoicereference", "invoice_id", "integration_invoicereference_invoice_id_88afaae0"),
    ("integration_invoicereference", "seller_id", "integration_invoicereference_seller_id_1daa036d"),
    ("integration_order", "seller_id", "integration_order_seller_id_7cac9e0e"),
    ("integration_searchcode", "order_id", "integration_searchcode_order_id_96ade8ad"),
    ("integration_searchcode", "seller_id", "integration_searchcode_seller_id_d8472925"),
)
# Made by Django for LIKE, which nothing asks of these columns.
_FOR_LIKE = (
    ("integration_company", "document varchar_pattern_ops", "integration_company_document_4c1cc66f_like"),
    ("integration_seller", "reference varchar_pattern_ops", "integration_seller_reference_a0d45c18_like"),
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("integration", "0007_order_of_seller")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
                    f"CREATE INDEX CONCURRENTLY {name} ON {table} ({column})",
                )
                for table, column, name in (*_INDEXES, *_FOR_LIKE)
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="invoice",
                    name="seller",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="invoices",
                        to="integration.seller",
                        verbose_name="seller",
                    ),
                ),
                migrations.AlterField(
                    model_name="invoicelink",
                    name="invoice",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="links",
                        to="integration.invoice",
                        verbose_name="invoice",
                    ),
                ),
                migrations.AlterField(
                    model_name="invoicereference",
                    name="invoice",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="references",
                        to="integration.invoice",
                        verbose_name="invoice",
                    ),
                ),
                migrations.AlterField(
                    model_name="invoicereference",
                    name="seller",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="integration.seller",
                    ),
                ),
                migrations.AlterField(
                    model_name="order",
                    name="seller",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="orders",
                        to="integration.seller",
                        verbose_name="seller",
                    ),
                ),
                migrations.AlterField(
                    model_name="searchcode",
                    name="order",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="codes",
                        to="integration.order",
                        verbose_name="order",
                    ),
                ),
                migrations.AlterField(
                    model_name="searchcode",
                    name="seller",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="integration.seller",
                    ),
                ),
            ],
        )
    ]
