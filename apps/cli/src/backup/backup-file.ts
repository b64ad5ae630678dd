import { type Service, services } from '@quittance/shared/events';
import { z } from 'zod';

/**
 * A backup is one file: SQL as `pg_dump` writes data, compressed by gzip and encrypted by age, so that `age -d` and `gunzip` show what
 * is in it. Its first line names the release that can read it, its last line what every table has.
 */

/** A reader of this format refuses any other. */
export const FORMAT = 1;

const headSchema = z.object({
  format: z.number(),
  /** The moment of which the records are. */
  at: z.iso.datetime(),
  /** Of each service, the migrations that made its tables. */
  migrations: z.partialRecord(z.enum(services), z.array(z.string())),
});
export type BackupHead = z.infer<typeof headSchema>;

const tableSchema = z.object({ rows: z.number(), bytes: z.number(), sha256: z.string() });
/** What a table has, as it stands in the file. */
export type BackedUpTable = z.infer<typeof tableSchema>;

const tailSchema = z.object({ tables: z.record(z.string(), tableSchema) });
export type BackupTail = z.infer<typeof tailSchema>;

const HEAD = '-- quittance backup ';
const TAIL = '-- end of backup ';

export const headLine = (head: BackupHead): string => `${HEAD}${JSON.stringify(head)}\n`;
export const tailLine = (tail: BackupTail): string => `${TAIL}${JSON.stringify(tail)}\n`;

/** Undefined of a line that is none. */
export const readHead = (line: string): BackupHead | undefined => read(headSchema, HEAD, line);
export const readTail = (line: string): BackupTail | undefined => read(tailSchema, TAIL, line);

function read<T>(schema: z.ZodType<T>, start: string, line: string): T | undefined {
  if (!line.startsWith(start)) return undefined;
  const parsed = z.string().transform(asJson).pipe(schema).safeParse(line.slice(start.length));
  return parsed.success ? parsed.data : undefined;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The schema refuses it.
    return undefined;
  }
}

export const fileName = (at: Date): string =>
  `quittance-${at
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')}.age`;

const NAMED = /^quittance-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\d)Z\.age$/;

/** When a backup was made, by its name: a copy of a file is younger than what is in it. */
export function timeInName(name: string): Date | undefined {
  const [, day, hours, minutes, seconds] = NAMED.exec(name) ?? [];
  return day === undefined ? undefined : new Date(`${day}${hours}:${minutes}:${seconds}Z`);
}

/** The services that a backup has. */
export const servicesOf = ({ migrations }: BackupHead): Service[] =>
  services.filter((service) => migrations[service] !== undefined);

/** What the tables of a service have together. */
export function totalOf(
  tables: Readonly<Record<string, BackedUpTable>>,
  service: Service,
): Pick<BackedUpTable, 'rows' | 'bytes'> {
  const own = Object.entries(tables).filter(([name]) => name.startsWith(`${service}.`));
  const sum = (of: 'rows' | 'bytes') => own.reduce((total, [, one]) => total + one[of], 0);
  return { rows: sum('rows'), bytes: sum('bytes') };
}
