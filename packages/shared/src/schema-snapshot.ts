import type { Queryable } from './db.ts';

/**
 * What a schema of Postgres has, as text by which two databases are compared: tables with their columns, constraints, indexes,
 * triggers and grants, views, sequences, types and functions. Owners are left out, because each installation has its own
 * administrator, and so are grants to roles that are not of Quittance.
 */

/** Of each object its lines, by a heading such as `table ledger.holds`. */
export type SchemaObjects = ReadonlyMap<string, readonly string[]>;

const HEADING = '--- ';

type Line = { object: string; line: string };

/** `object` of a relation. $1 is the schema. */
const relations = `
  select c.oid, c.relkind, c.relacl, c.reloptions, c.relpersistence,
    format('%s %I.%I', case c.relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, n.nspname, c.relname)
      as object
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p', 'v', 'S')`;

const grantee = `case a.grantee when 0 then 'public' else pg_get_userbyid(a.grantee) end`;
const ofQuittance = `(a.grantee = 0 or pg_get_userbyid(a.grantee) like 'quittance\\_%')`;

/** In the order in which they are written below a heading. */
const statements: readonly string[] = [
  // Columns.
  `select r.object, concat(quote_ident(a.attname), ' ', format_type(a.atttypid, a.atttypmod),
     case when a.attcollation <> t.typcollation then format(' collate %I', l.collname) end,
     case when a.attnotnull then ' not null' end,
     case when a.attidentity <> '' then ' generated as identity'
       when a.attgenerated <> '' then format(' generated always as (%s)', pg_get_expr(d.adbin, d.adrelid))
       when d.adbin is not null then format(' default %s', pg_get_expr(d.adbin, d.adrelid)) end) as line
   from (${relations}) r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
     join pg_type t on t.oid = a.atttypid left join pg_collation l on l.oid = a.attcollation
     left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
   where r.relkind in ('r', 'p') order by r.object, a.attnum`,
  // Postgres 18 lists NOT NULL among the constraints and older ones do not: columns say it here.
  `select r.object, format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid)) as line
   from (${relations}) r join pg_constraint k on k.conrelid = r.oid where k.contype not in ('n', 't')
   order by r.object, k.conname`,
  `select r.object, pg_get_indexdef(i.indexrelid) || case when i.indisvalid then '' else ' -- invalid' end as line
   from (${relations}) r join pg_index i on i.indrelid = r.oid join pg_class x on x.oid = i.indexrelid
   where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
   order by r.object, x.relname`,
  `select r.object, pg_get_triggerdef(t.oid) || case t.tgenabled when 'D' then ' -- disabled' else '' end as line
   from (${relations}) r join pg_trigger t on t.tgrelid = r.oid where not t.tgisinternal
   order by r.object, t.tgname`,
  `select object, line from (
     select object, format('with (%s)', array_to_string(reloptions, ', ')) as line from (${relations}) r where reloptions is not null
     union all select object, format('partition by %s', pg_get_partkeydef(oid)) from (${relations}) r where relkind = 'p'
     union all select object, format('partition of %s %s', i.inhparent::regclass, pg_get_expr(c.relpartbound, c.oid))
       from (${relations}) r join pg_class c using (oid) join pg_inherits i on i.inhrelid = c.oid where c.relispartition
     union all select object, 'unlogged' from (${relations}) r where relpersistence = 'u'
     union all select object, pg_get_viewdef(oid) from (${relations}) r where relkind = 'v'
     union all select object, format('as %s start %s increment %s', format_type(s.seqtypid, null), s.seqstart, s.seqincrement)
       from (${relations}) r join pg_sequence s on s.seqrelid = r.oid
   ) as properties order by object, line`,
  `select format('type %I.%I', n.nspname, t.typname) as object,
     'enum of ' || string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) as line
   from pg_type t join pg_namespace n on n.oid = t.typnamespace join pg_enum e on e.enumtypid = t.oid
   where n.nspname = $1 group by n.nspname, t.typname order by object`,
  `select format('function %I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as object,
     concat('returns ', pg_get_function_result(p.oid), ' language ', l.lanname,
       case p.provolatile when 'i' then ' immutable' when 's' then ' stable' end,
       case when p.prosecdef then ' security definer' end, case when p.proisstrict then ' strict' end,
       ' set ' || array_to_string(p.proconfig, ', '), E'\\n', p.prosrc) as line
   from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
   where n.nspname = $1 order by object`,
  // Grants: of tables, views and sequences, of columns, of functions, of the schema.
  `select r.object, format('grant %s to %s', string_agg(lower(a.privilege_type), ', ' order by a.privilege_type), ${grantee}) as line
   from (${relations}) r, aclexplode(r.relacl) a where ${ofQuittance} group by r.object, a.grantee order by r.object, line`,
  `select object, format('grant %s (%s) to %s', privilege, string_agg(quote_ident(attname), ', ' order by attnum), grantee) as line
   from (select r.object, lower(a.privilege_type) as privilege, t.attname, t.attnum, ${grantee} as grantee
         from (${relations}) r join pg_attribute t on t.attrelid = r.oid and not t.attisdropped, aclexplode(t.attacl) a
         where ${ofQuittance}) as columns
   group by object, privilege, grantee order by object, line`,
  `select format('function %I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)) as object,
     format('grant execute to %s', ${grantee}) as line
   from pg_proc p join pg_namespace n on n.oid = p.pronamespace, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
   where n.nspname = $1 and ${ofQuittance} order by object, line`,
  `select format('schema %I', n.nspname) as object,
     format('grant %s to %s', string_agg(lower(a.privilege_type), ', ' order by a.privilege_type), ${grantee}) as line
   from pg_namespace n, aclexplode(n.nspacl) a where n.nspname = $1 and ${ofQuittance}
   group by n.nspname, a.grantee order by line`,
];

/** @param db with the search path `pg_catalog`: then every other name is written with its schema */
export async function describeSchema(db: Queryable, schema: string): Promise<SchemaObjects> {
  const found = new Map<string, string[]>();
  for (const statement of statements) {
    for (const { object, line } of await db.rows<Line>(statement, [schema])) {
      const lines = line
        .split('\n')
        .map((one) => one.trimEnd())
        .filter((one) => one !== '');
      found.set(object, [...(found.get(object) ?? []), ...lines]);
    }
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What `parseSnapshot` reads. */
export const snapshotText = (objects: SchemaObjects): string =>
  [...objects].map(([object, lines]) => `${HEADING}${object}\n${lines.join('\n')}\n`).join('\n');

/** @param text what `snapshotText` has written; what stands before the first heading is left out */
export function parseSnapshot(text: string): SchemaObjects {
  const blocks = `\n${text}`.split(`\n${HEADING}`).slice(1);
  return new Map(
    blocks.map((block) => {
      const [object = '', ...lines] = block.split('\n');
      return [object, lines.filter((line) => line !== '')] as const;
    }),
  );
}

export type Drift = { object: string; missing: readonly string[]; unexpected: readonly string[] };

/** How a database differs from what is wanted, object by object. `missing` and `unexpected` are its lines. */
export function driftOf(wanted: SchemaObjects, found: SchemaObjects): Drift[] {
  const objects = [...new Set([...wanted.keys(), ...found.keys()])].sort();
  return objects
    .map((object) => {
      const [own, others] = [wanted.get(object) ?? [], found.get(object) ?? []];
      return {
        object,
        missing: own.filter((line) => !others.includes(line)),
        unexpected: others.filter((line) => !own.includes(line)),
      };
    })
    .filter(({ missing, unexpected }) => missing.length + unexpected.length > 0);
}
