import type { EventId } from '@quittance/shared/ids';

/** An event as its account's log holds it. `data` is JSON text, sent as it was stored. */
export type LoggedEvent = {
  id: EventId;
  kind: string;
  createdAt: Date;
  /** An integer, as Postgres hands bigint out. */
  sequence: string;
  /** How often its invoice or payout had changed; an integer too. */
  version: string;
  data: string;
};

/** What a merchant is sent, to the byte: the signature is over this text, and each attempt sends the same. */
export function envelopeOf({ id, kind, createdAt, sequence, version, data }: LoggedEvent): string {
  return `{"id":"${id}","event":"${kind}","created_at":"${createdAt.toISOString()}","sequence":${sequence},"version":${version},"data":${data}}`;
}
