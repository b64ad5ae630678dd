const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The query of a list whose filters name days: the API takes moments. The end of a range is the last moment of its day.
 * @param zone `local`: days of the reader; `UTC`: days as records count them
 */
export function withMoments(
  query: Readonly<Record<string, unknown>>,
  zone: 'local' | 'UTC' = 'local',
): Record<string, unknown> {
  const suffix = zone === 'UTC' ? 'Z' : '';
  const momentOf = (name: string, value: unknown): unknown => {
    const isRange = name.endsWith('_from') || name.endsWith('_to');
    if (!isRange || typeof value !== 'string' || !DAY.test(value)) return value;
    const moment = new Date(`${value}T${name.endsWith('_to') ? '23:59:59.999' : '00:00:00.000'}${suffix}`);
    // The API says what is wrong with a day that is none.
    return Number.isNaN(moment.getTime()) ? value : moment.toISOString();
  };
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, momentOf(name, value)]));
}
