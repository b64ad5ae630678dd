import {
  type Answer,
  answers,
  authenticated,
  contextOf,
  createApp,
  finishApp,
  readBody,
  send,
} from '@quittance/shared/http';
import { pageView } from '@quittance/shared/pages';
import type { Express } from 'express';
import { readEndpointForm, readEventsQuery, readPage } from './forms.ts';
import { deleteEndpoint } from './operations/delete-endpoint.ts';
import { listEndpoints } from './operations/list-endpoints.ts';
import { listEvents } from './operations/list-events.ts';
import { readEndpoint } from './operations/read-endpoint.ts';
import { readEvent } from './operations/read-event.ts';
import { ENDPOINTS_MAX, registerEndpoint } from './operations/register-endpoint.ts';
import type { Ports } from './ports.ts';
import { endpointView, eventView, newEndpointView } from './views.ts';

type HttpPorts = Pick<
  Ports,
  'db' | 'clock' | 'random' | 'seal' | 'logger' | 'publicUrl' | 'allowInsecureEndpoints'
> & { identitySecret: string; waitsFor: () => Promise<string[]> };

const refusals = {
  endpoint: { unknown: answers.noModel('Webhook'), not_yours: answers.unauthorized },
  event: { unknown: answers.noModel('Event'), not_yours: answers.unauthorized },
  registration: {
    too_many: answers.invalid({ url: [`The webhooks must not have more than ${ENDPOINTS_MAX} items.`] }),
  },
} satisfies Record<string, Record<string, Answer>>;

/** Ids of ours are made of these; anything else is unknown without asking the database. */
const idForm = /^[a-z]{3}_[0-9a-z]{1,64}$/;
const idOf = (params: Record<string, string | string[] | undefined>): string => {
  const { id } = params;
  return typeof id === 'string' && idForm.test(id) ? id : '';
};

export function createHttp(ports: HttpPorts): Express {
  const app = createApp({ ...ports, lists: ['kinds'] });
  const known = authenticated(ports.identitySecret, ports.clock);

  app.get('/api/webhooks', known, async (req, res) => {
    const read = readPage(req.query);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const { endpoints, total } = await listEndpoints(ports, contextOf(res).identity.account, read.value);
    const path = `${ports.publicUrl}/api/webhooks`;
    const data = endpoints.map(endpointView);
    send(res, { status: 200, body: pageView({ data, total, ...read.value, path, query: req.query }) });
  });

  app.post('/api/webhooks', known, ...readBody, async (_req, res) => {
    const { identity, body } = contextOf(res);
    const read = readEndpointForm(body, ports.allowInsecureEndpoints);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const { url, events: kinds, description } = read.value;
    const made = await registerEndpoint(ports, { account: identity.account, url, kinds, description });
    if (!made.ok) return send(res, refusals.registration[made.refusal]);
    const data = newEndpointView(made.value.endpoint, made.value.secret);
    send(res, { status: 201, body: { message: 'Webhook created successfully.', data } });
  });

  app.get('/api/webhooks/:id', known, async (req, res) => {
    const found = await readEndpoint(ports, contextOf(res).identity.account, idOf(req.params));
    if (!found.ok) return send(res, refusals.endpoint[found.refusal]);
    send(res, { status: 200, body: endpointView(found.value) });
  });

  app.delete('/api/webhooks/:id', known, async (req, res) => {
    const deleted = await deleteEndpoint(ports, contextOf(res).identity.account, idOf(req.params));
    if (!deleted.ok) return send(res, refusals.endpoint[deleted.refusal]);
    send(res, { status: 200, body: { message: 'Webhook deleted successfully.' } });
  });

  app.get('/api/events', known, async (req, res) => {
    const read = readEventsQuery(req.query);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const found = await listEvents(ports, contextOf(res).identity.account, read.value);
    const meta = {
      has_more: found.hasMore,
      // tidy-allow number: places in a sequence, below 2^53 as JSON has them
      next_after: Number(found.nextAfter),
      // tidy-allow number: the same
      last_sequence: Number(found.lastSequence),
    };
    send(res, { status: 200, body: { data: found.events.map(eventView), meta } });
  });

  app.get('/api/events/:id', known, async (req, res) => {
    const found = await readEvent(ports, contextOf(res).identity.account, idOf(req.params));
    if (!found.ok) return send(res, refusals.event[found.refusal]);
    send(res, { status: 200, body: eventView(found.value) });
  });

  finishApp(app, ports.logger);
  return app;
}
