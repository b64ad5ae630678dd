import { statement, type Trx } from '@quittance/shared/db';
import type { EndpointId } from '@quittance/shared/ids';

/** Where an endpoint's deliveries go now, and what they are signed with. */
export type StoredRecipient = {
  endpointKey: string;
  endpointId: EndpointId;
  url: string;
  /** Another one when the endpoint begins anew, at a new URL say. */
  generation: string;
  sealedSecrets: Buffer[];
};

// A statement of its own after the locks: the one that takes them still sees what was there before it had to look.
const selectLocked = statement(
  'recipients_of_lanes',
  `select l.endpoint_key as "endpointKey", e.id as "endpointId", e.url, l.generation,
     array(select s.sealed from endpoint_secrets s
       where s.endpoint_key = l.endpoint_key and (s.ends_at is null or s.ends_at > $2)
       order by s.created_at desc) as "sealedSecrets"
   from lanes l join endpoints e on e.key = l.endpoint_key where l.endpoint_key = any($1::bigint[])`,
);

/** Those of lanes that this transaction has locked: nobody changes them until it ends. */
export const recipientsOf = (trx: Trx, keys: readonly string[], now: Date): Promise<StoredRecipient[]> =>
  trx.rows<StoredRecipient>(selectLocked, [keys, now]);
