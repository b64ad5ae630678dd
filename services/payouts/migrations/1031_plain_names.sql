-- Tables and columns are named by the terms of docs/glossary.md.
alter table holdings rename to unswept_deposits;
alter table coins rename to utxos;
alter table coin_cursors rename to hot_address_cursors;
alter sequence coin_change_indexes rename to change_indexes;
alter table transactions rename column family to replacement_group;
alter table payments rename column family to replacement_group;
alter table utxos rename column source_family to source_group;

-- The change of a transaction that no block includes yet is incoming.
alter table utxos drop constraint coins_state_known;
update utxos set state = 'incoming' where state = 'coming';
alter table utxos add constraint utxos_state_known check (state in ('incoming', 'available', 'locked', 'spent'));

-- A Bitcoin transaction's terms name the UTXOs that it spends.
update transactions set terms = terms - 'coins' || jsonb_build_object('utxos', terms->'coins')
where chain = 'bitcoin' and terms->'coins' is not null;

-- The names of constraints and indexes begin with the name of their table.
do $$
declare
  former constant text := '(^holdings_|^coins_|^coin_cursors_|famil(y|ies))';
  plain constant text[] := array[
    ['^holdings_', 'unswept_deposits_'], ['^coins_', 'utxos_'], ['^coin_cursors_', 'hot_address_cursors_'],
    ['source_family', 'source_group'], ['transactions_family_not_null', 'transactions_replacement_group_not_null'],
    ['payments_family_not_null', 'payments_replacement_group_not_null'], ['family', 'group']];
  pair text[];
  named record;
  new_name text;
begin
  for named in
    select 'table' as kind, conrelid::regclass as relation, conname as name from pg_constraint
    where connamespace = 'payouts'::regnamespace and conname ~ former
    union all
    select 'index', c.oid::regclass, c.relname from pg_class c
    where c.relnamespace = 'payouts'::regnamespace and c.relkind = 'i' and c.relname ~ former
      and not exists (select from pg_constraint where conindid = c.oid and conname = c.relname)
  loop
    new_name := named.name;
    foreach pair slice 1 in array plain loop
      new_name := regexp_replace(new_name, pair[1], pair[2]);
    end loop;
    if named.kind = 'table' then
      execute format('alter table %s rename constraint %I to %I', named.relation, named.name, new_name);
    else
      execute format('alter index %s rename to %I', named.relation, new_name);
    end if;
  end loop;
end $$;
