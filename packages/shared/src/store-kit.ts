/** What a value of each type may be. */
type ColumnValues = {
  text: string | null;
  numeric: bigint | string | null;
  int: number | bigint | null;
  bigint: number | bigint | string | null;
  bool: boolean | null;
  timestamptz: Date | null;
  uuid: string | null;
  /** As text: `JSON.stringify` of a value. */
  jsonb: string | null;
  bytea: Buffer | null;
};
type ColumnType = keyof ColumnValues;

/** A column's type, with its name before it where that is not the property's in snake_case. */
type Column = ColumnType | `${string} ${ColumnType}`;
type TypeOf<S extends Column> = S extends ColumnType
  ? S
  : S extends `${string} ${infer T extends ColumnType}`
    ? T
    : never;

type BulkRow<C extends Record<string, Column>> = { readonly [K in keyof C]: ColumnValues[TypeOf<C[K]>] };

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * The part of a statement that takes many rows, from the map of its columns:
 *
 *     const deposits = bulk({ id: 'deposit_id text', amount: 'numeric' });
 *     const insert = statement('deposits_insert', `${deposits.insertInto('deposits')} on conflict do nothing`);
 *     await trx.rows(insert, deposits.values([{ id, amount }]));
 *
 * @param first the number of the first parameter that the columns take
 */
export function bulk<const C extends Record<string, Column>>(map: C, first = 1) {
  const keys = Object.keys(map);
  const parts = keys.map((key) => {
    const [a = '', b] = String(map[key]).split(' ');
    return b === undefined ? { name: snakeCase(key), type: a } : { name: a, type: b };
  });
  const columns = parts.map(({ name }) => name).join(', ');
  const arrays = parts.map(({ type }, i) => `$${first + i}::${type}[]`).join(', ');
  const scalars = parts.map(({ type }, i) => `$${first + i}::${type}`).join(', ');
  const from = (alias: string) => `unnest(${arrays}) as ${alias} (${columns})`;
  return {
    /** `id, …`: the columns' names. */
    columns,
    /** `unnest($1::text[], …) as alias (id, …)`: what follows `from` in a statement that takes many rows. */
    from,
    /** The same, with the place of each row, counted from 1, in a column of this name. */
    numbered: (alias: string, column: string) =>
      `unnest(${arrays}) with ordinality as ${alias} (${columns}, ${column})`,
    /** The same for exactly one row, without arrays: Postgres plans it once, and plans arrays again for each length. */
    fromOne: (alias: string) => `(values (${scalars})) as ${alias} (${columns})`,
    /** `insert into table (id, …) select id, … from …` */
    insertInto: (table: string) =>
      `insert into ${table} (${columns}) select ${columns} from ${from('given')}`,
    /** The statement's values: an array for each column. Further parameters of the statement come after them. */
    values: (rows: readonly BulkRow<C>[]): unknown[] => keys.map((key) => rows.map((row) => row[key])),
    /** The values of a statement with `fromOne`. */
    valuesOfOne: (row: BulkRow<C>): unknown[] => keys.map((key) => row[key]),
  };
}
