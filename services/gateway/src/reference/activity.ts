import { id, oneOf, pageOf, text, time } from '@quittance/shared/answer-schemas';
import { pageForm } from '@quittance/shared/pages';
import { type Operation, pagedQuery, viewed } from '@quittance/shared/reference';
import { z } from 'zod';
import type { auditEntryView, failedRequestView } from '../activity-views.ts';
import { auditLogFilters } from '../http/activity.ts';

const tokenId = (about: string) => id('tok', about).nullable();
const address = text('The address of the client, or null.').nullable();

export const failedRequest = viewed<ReturnType<typeof failedRequestView>>()(
  z
    .strictObject({
      id: id('req', 'The `X-Request-Id` of its answer.'),
      created_at: time('When it came.'),
      method: text('Its method.'),
      path: text('Its path without the query, at most 300 characters.'),
      status: z.int().min(400).max(599).describe('The status of its answer.'),
      code: text('The code of the error, or null where the answer named none.').nullable(),
      token_id: tokenId('The API token that it was sent with, or null.'),
      person_id: id('per', 'The person who had signed in, or null.').nullable(),
      person_name: text('The name of the person, or null.').nullable(),
      address,
    })
    .meta({ id: 'FailedRequest', description: 'A request that was answered with an error.' }),
);

export const auditEntry = viewed<ReturnType<typeof auditEntryView>>()(
  z
    .strictObject({
      id: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .describe('The hash of the entry in the audit log of the operator.'),
      created_at: time('When it was written.'),
      actor: z
        .strictObject({
          type: oneOf(['token', 'person', 'operator'], 'What it is.'),
          id: text('The id of the token or the person; null of the operator.').nullable(),
          name: text('The name of the token or the person, where it is still known.').nullable(),
        })
        .describe('Who has done it.'),
      action: text('What was done, such as `token.created`.'),
      subject: text(
        'To what, where that is no token: an id, a name, or method and path of a request.',
      ).nullable(),
      token_id: tokenId('The API token that it is about, or null.'),
      detail: text('More about it, such as the scopes of a token or the id of a request.').nullable(),
      address,
    })
    .meta({ id: 'AuditEntry', description: 'An entry of the audit log. It is never changed or deleted.' }),
);

const tag = 'Activity';

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/requests',
    operationId: 'listRequests',
    tag,
    summary: 'List failed requests',
    description:
      'Requests of the account that were answered with an error, newest first: the last 1,000 of at most 30 days. They appear within seconds. Those without a valid token or session, and those over a rate limit, are not among them. Neither queries nor bodies are stored.',
    query: pagedQuery(pageForm.schema.shape, {}),
    answers: {
      200: { description: 'A page of requests.', json: pageOf('FailedRequestPage', failedRequest) },
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/api/audit-log',
    operationId: 'listAuditLog',
    tag,
    summary: 'Read the audit log',
    description:
      'Who has changed what in the account, from which address and when, newest first: tokens, people, sessions, and changes of where money and messages go. Of people only owners and admins may read it.',
    query: pagedQuery(auditLogFilters.schema.shape, { format: '`csv` answers a file of all entries.' }),
    answers: {
      200: {
        description: 'A page of entries.',
        json: pageOf('AuditEntryPage', auditEntry),
        others: { 'text/csv': 'All entries of the account, one row each.' },
      },
    },
    errors: [],
  },
];
