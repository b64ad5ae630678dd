const isoDate =
  /^(\d{4}-\d{2}-(\d{2}))(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;

/** The form of what `readIsoDate` reads, for a JSON schema. */
export const ISO_DATE_PATTERN: string = isoDate.source;

/**
 * ISO 8601: a date, or a date and time. UTC unless it says otherwise, whatever the machine's zone is. Undefined when the
 * text is no date.
 */
export function readIsoDate(text: string): Date | undefined {
  const [matched, date, day, hours = '00', minutes = '00', seconds = '00', fraction = '', offset = 'Z'] =
    isoDate.exec(text) ?? [];
  if (matched === undefined || text.startsWith('0000')) return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const zone = offset.replace(/^(.\d\d)(\d\d)$/, '$1:$2');
  const local = new Date(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
  // Date takes 31 February for a day in March.
  if (Number.isNaN(local.getTime()) || local.toISOString().slice(8, 10) !== day) return undefined;
  return new Date(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}${zone}`);
}

/** What to do about a text that `readIsoDate` does not read. */
export function isoDateHint(text: string): string {
  if (isoDate.test(text)) return 'There is no such day.';
  const [, seconds] = /^(\d{10})(?:\d{3})?$/.exec(text) ?? [];
  // eslint-disable-next-line no-restricted-syntax -- seconds since 1970
  if (seconds !== undefined) return `Give ISO 8601: ${new Date(Number(seconds) * 1_000).toISOString()}.`;
  return 'Give ISO 8601, such as 2026-01-31 or 2026-01-31T12:00:00Z.';
}
