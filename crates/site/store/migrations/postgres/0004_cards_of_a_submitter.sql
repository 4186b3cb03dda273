-- Places of a submitter in summaries.
create index tag_cards_tag on tag_cards (tag, product, context_key);
