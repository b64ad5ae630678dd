import type { Author } from '../store/audit-log.ts';
import type { PersonSession } from '../store/sessions.ts';

/** Who asks with a session, and from which address; undefined when the client has gone. */
export type PersonAsker = { session: PersonSession; client: string | undefined };

/** For the audit log. */
export const personAuthor = (person: string, { client }: Pick<PersonAsker, 'client'>): Author => ({
  actor: `person ${person}`,
  source: client,
});
