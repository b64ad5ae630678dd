import { services } from '@quittance/shared/events';

/**
 * SQL by which an installation was stopped a quarter of an hour ago: what was open is open, and what failed is due, whenever this
 * runs.
 */
export const movedTimes = (stoppedAt: string): string =>
  `set session_replication_role = 'replica';
   do $$
   declare
     passed interval := now() - interval '15 minutes' - '${stoppedAt}'::timestamptz;
     t record;
   begin
     for t in
       select c.oid::regclass as name,
         string_agg(format('%1$I = %1$I + $1', a.attname), ', ') as moved
       from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace::regnamespace::text = any('{${services.join(', ')}, operator}') and c.relkind = 'r'
         and a.atttypid = 'timestamptz'::regtype and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       group by c.oid
     loop
       execute format('update %s set %s', t.name, t.moved) using passed;
     end loop;
   end $$;
   reset session_replication_role;`;
