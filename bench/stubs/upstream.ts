import { systemClock } from '@quittance/shared/clock';
import { createApp } from '@quittance/shared/http';
import { send } from '@quittance/shared/http-answers';
import { listen } from '@quittance/shared/http-server';
import { createLogger } from '@quittance/shared/logger';

/** The yardstick of a service: express answering every request with the same JSON, read from its arguments. */
const [, , port = '', body = '{}'] = process.argv;
const answer = JSON.parse(body) as object;
const app = createApp({
  logger: createLogger('stub', 'silent'),
  clock: systemClock,
  waitsFor: async () => [],
});
app.use((_req, res) => send(res, { status: 200, body: answer }));
// eslint-disable-next-line no-restricted-syntax -- a port
await listen(app, '127.0.0.1', Number(port));
