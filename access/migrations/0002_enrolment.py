import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('access', '0001_attempt_counts'),
    ]

    operations = [
        migrations.CreateModel(
            name='EnrolmentCode',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='enrolment_code', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('digest', models.BinaryField(max_length=32)),
                ('issued_by', models.CharField(max_length=200)),
                ('issued_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='InitialPassword',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='initial_password', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('set_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'default_permissions': (),
            },
        ),
    ]
