-- A product's page reads a limited number of summaries, those of most submitters first.
create index summaries_most on summaries (product, submitters, context_key, metric);
