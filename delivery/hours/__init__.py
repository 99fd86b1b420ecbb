"""Hours of service of the installation and of accounts, outside which nothing is picked up."""
