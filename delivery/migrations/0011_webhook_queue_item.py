import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0010_latest_positions")]

    operations = [
        migrations.RemoveConstraint("webhookturn", "one_ordered_turn_per_delivery"),
        migrations.RenameModel("WebhookTurn", "WebhookQueueItem"),
        migrations.AlterModelOptions(
            "webhookqueueitem",
            {"verbose_name": "webhook queue item", "verbose_name_plural": "webhook queue items"},
        ),
        migrations.RenameIndex("webhookqueueitem", new_name="queue_item_due", old_name="turn_due"),
        migrations.RenameIndex("webhookqueueitem", new_name="queue_item_leased", old_name="turn_held"),
        migrations.AddConstraint(
            "webhookqueueitem",
            models.UniqueConstraint(
                fields=["delivery"],
                name="one_ordered_queue_item_per_delivery",
                condition=models.Q(is_ordered=True),
            ),
        ),
        migrations.AlterField(
            "webhookqueueitem",
            "event",
            models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="queue_item",
                to="delivery.webhookevent",
                verbose_name="event",
            ),
        ),
        migrations.AlterField(
            "webhookqueueitem",
            "delivery",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="queue_items",
                to="delivery.delivery",
                verbose_name="delivery",
            ),
        ),
        migrations.AlterField(
            "webhookqueueitem",
            "endpoint",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="queue_items",
                to="delivery.webhookendpoint",
                verbose_name="endpoint",
            ),
        ),
        migrations.AlterField(
            "webhookqueueitem",
            "due_at",
            models.DateTimeField(
                help_text="While the item is claimed, the end of its lease.", verbose_name="next attempt at"
            ),
        ),
        migrations.AlterField(
            "webhookqueueitem",
            "tries",
            models.PositiveSmallIntegerField(
                default=0, help_text="Attempts that count towards the schedule of retries. A replay resets them."
            ),
        ),
        migrations.AlterField(
            "webhookqueueitem",
            "refusals",
            models.PositiveSmallIntegerField(default=0, help_text="Attempts with an answer other than 2xx."),
        ),
        migrations.AlterField(
            "webhookqueueitem",
            "lease",
            models.UUIDField(
                help_text="Fencing token: only the worker that claimed the item under it may settle the item.",
                null=True,
            ),
        ),
    ]
