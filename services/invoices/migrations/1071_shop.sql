-- What the pages of an account's customers show, and where they may lead.
alter table invoice_settings
  add shop_name text constraint invoice_settings_shop_name_within_limits check (char_length(shop_name) between 1 and 60),
  -- a data URI of a PNG, JPEG or WebP
  add shop_logo text
    constraint invoice_settings_shop_logo_is_a_picture
    check (length(shop_logo) <= 8192 and shop_logo ~ '^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/]+=*$'),
  -- null: as the customer's browser asks
  add language text
    constraint invoice_settings_language_known
    check (language in ('en', 'de', 'es', 'fr', 'it', 'pt', 'ru', 'zh', 'ja', 'ar')),
  -- empty: any
  add redirect_hosts text[] not null default '{}'
    constraint invoice_settings_redirect_hosts_within_limits check (cardinality(redirect_hosts) <= 20),
  -- origins of HTTPS; empty: none
  add frame_ancestors text[] not null default '{}'
    constraint invoice_settings_frame_ancestors_within_limits check (cardinality(frame_ancestors) <= 10);
