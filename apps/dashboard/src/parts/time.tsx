import { Tooltip } from '@mantine/core';

const inFull = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const short = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** A time of the API in the reader's zone; whole, with its zone, when it is pointed at. */
export function Time({ at }: { at: string | null | undefined }) {
  if (at === null || at === undefined) return <>—</>;
  const date = new Date(at);
  return (
    <Tooltip label={inFull.format(date)} events={{ hover: true, focus: true, touch: true }}>
      <time dateTime={at} style={{ whiteSpace: 'nowrap' }}>
        {short.format(date)}
      </time>
    </Tooltip>
  );
}
