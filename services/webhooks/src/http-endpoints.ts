import { type Answer, answers, contextOf, readBody, send } from '@quittance/shared/http';
import { pageView } from '@quittance/shared/pages';
import type { Express, RequestHandler } from 'express';
import { GOOD_SECRETS_MAX } from './domain/rotation.ts';
import {
  type EndpointChanges,
  readEndpointChanges,
  readEndpointForm,
  readPage,
  readRotation,
} from './forms-endpoints.ts';
import { idOf } from './ids-in-paths.ts';
import { type Changes, changeEndpoint } from './operations/change-endpoint.ts';
import { deleteEndpoint } from './operations/delete-endpoint.ts';
import { listEndpoints } from './operations/list-endpoints.ts';
import { readEndpoint } from './operations/read-endpoint.ts';
import { ENDPOINTS_MAX, registerEndpoint } from './operations/register-endpoint.ts';
import { type RotationRefusal, rotateSecret } from './operations/rotate-secret.ts';
import { testEndpoint } from './operations/test-endpoint.ts';
import type { HttpPorts } from './ports.ts';
import { endpointView, eventView, newEndpointView, rotatedEndpointView } from './views.ts';

const refusals = {
  endpoint: { unknown: answers.noModel('Webhook'), not_yours: answers.unauthorized },
  test: {
    unknown: answers.noModel('Webhook'),
    not_yours: answers.unauthorized,
    disabled: answers.conflict('The webhook is disabled: enable it first.'),
  },
  registration: {
    too_many: answers.invalid({ url: [`The webhooks must not have more than ${ENDPOINTS_MAX} items.`] }),
  },
} satisfies Record<string, Record<string, Answer>>;

function refusedRotation(refusal: RotationRefusal): Answer {
  if (refusal.kind !== 'too_many') return refusals.endpoint[refusal.kind];
  const { until } = refusal;
  return answers.conflict(
    `There are ${GOOD_SECRETS_MAX} good secrets, the most there may be. The next one ends at ${until.toISOString()}: wait until then, or give 0 as overlap_hours to end all former ones now.`,
  );
}

const changesOf = ({ events, ...others }: EndpointChanges): Changes =>
  events === undefined ? others : { ...others, kinds: events };

/** Lets a request through when its endpoint is there and the account's own: before anything is said of its fields. */
export const ownEndpoint =
  ({ db }: Pick<HttpPorts, 'db'>): RequestHandler =>
  async (req, res, next) => {
    const found = await readEndpoint({ db }, contextOf(res).identity.account, idOf(req.params));
    if (found.ok) next();
    else send(res, refusals.endpoint[found.refusal]);
  };

/** Where a merchant wants to be told. */
export function endpointRoutes(app: Express, known: RequestHandler, ports: HttpPorts): void {
  const own = ownEndpoint(ports);

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

  app.patch('/api/webhooks/:id', known, ...readBody, own, async (req, res) => {
    const { identity, body } = contextOf(res);
    const read = readEndpointChanges(body, ports.allowInsecureEndpoints);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const changed = await changeEndpoint(ports, identity.account, idOf(req.params), changesOf(read.value));
    if (!changed.ok) return send(res, refusals.endpoint[changed.refusal]);
    const data = endpointView(changed.value);
    send(res, { status: 200, body: { message: 'Webhook updated successfully.', data } });
  });

  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    app.post(`/api/webhooks/:id/${verb}`, known, async (req, res) => {
      const changed = await changeEndpoint(ports, contextOf(res).identity.account, idOf(req.params), {
        enabled,
      });
      if (!changed.ok) return send(res, refusals.endpoint[changed.refusal]);
      const data = endpointView(changed.value);
      send(res, { status: 200, body: { message: `Webhook ${verb}d successfully.`, data } });
    });
  }

  app.post('/api/webhooks/:id/rotate', known, ...readBody, own, async (req, res) => {
    const { identity, body } = contextOf(res);
    const read = readRotation(body);
    if (!read.ok) return send(res, answers.invalid(read.refusal));
    const rotated = await rotateSecret(ports, identity.account, idOf(req.params), read.value.overlap_hours);
    if (!rotated.ok) return send(res, refusedRotation(rotated.refusal));
    const data = rotatedEndpointView(rotated.value);
    send(res, { status: 200, body: { message: 'Webhook secret rotated successfully.', data } });
  });

  app.post('/api/webhooks/:id/test', known, async (req, res) => {
    const tested = await testEndpoint(ports, contextOf(res).identity.account, idOf(req.params));
    if (!tested.ok) return send(res, refusals.test[tested.refusal]);
    const data = { delivery_id: tested.value.deliveryId, event: eventView(tested.value.event) };
    send(res, { status: 202, body: { message: 'Webhook test queued successfully.', data } });
  });

  app.delete('/api/webhooks/:id', known, async (req, res) => {
    const deleted = await deleteEndpoint(ports, contextOf(res).identity.account, idOf(req.params));
    if (!deleted.ok) return send(res, refusals.endpoint[deleted.refusal]);
    send(res, { status: 200, body: { message: 'Webhook deleted successfully.' } });
  });
}
