import { csvTable } from '@quittance/shared/csv';
import type { AccountEntry } from './store/audit-log.ts';
import type { ListedRequest } from './store/failed-requests.ts';

/** A request that failed. It names the API token, or the person who had signed in. */
export const failedRequestView = (request: ListedRequest) => ({
  id: request.id,
  created_at: request.at.toISOString(),
  method: request.method,
  path: request.path,
  status: request.status,
  code: request.code,
  token_id: request.tokenId as string | null,
  person_id: request.personId as string | null,
  person_name: request.personName,
  address: request.address,
});

type ActorType = 'token' | 'person' | 'operator';

/** Who acted: an id of the account, or the operator, of whom an account learns neither the name nor the computer. */
function actorOf({ actor, actorName }: AccountEntry): {
  type: ActorType;
  id: string | null;
  name: string | null;
} {
  const [, type, id] = /^(token|person) ((?:tok|per)_\w+)$/.exec(actor) ?? [];
  return type === undefined || id === undefined
    ? { type: 'operator', id: null, name: null }
    : { type: type as ActorType, id, name: actorName };
}

/** An entry of the audit log as its account sees it. */
export function auditEntryView(entry: AccountEntry) {
  const actor = actorOf(entry);
  return {
    id: entry.hash,
    created_at: entry.at.toISOString(),
    actor,
    action: entry.action,
    subject: entry.subject,
    token_id: entry.tokenId as string | null,
    detail: entry.detail,
    address: actor.type === 'operator' ? null : entry.source,
  };
}

type Shown = ReturnType<typeof auditEntryView>;

/** The audit log of an account, one row for each entry. `docs/api.md` describes the columns. */
export const auditLogTable = csvTable<AccountEntry, Shown>(auditEntryView, {
  id: ({ id }) => id,
  created_at: ({ created_at }) => created_at,
  actor: ({ actor }) => actor.type,
  actor_id: ({ actor }) => actor.id,
  actor_name: ({ actor }) => actor.name,
  action: ({ action }) => action,
  subject: ({ subject }) => subject,
  token_id: ({ token_id }) => token_id,
  detail: ({ detail }) => detail,
  address: ({ address }) => address,
});
