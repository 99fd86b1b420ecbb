// No page of the admin has a chart.
