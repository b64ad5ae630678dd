import { get } from 'node:http';

// The health check of an image: what the service says of itself. Nothing but Node is in there to ask it with.
const WITHIN_MS = 2_500;
// eslint-disable-next-line no-restricted-syntax -- this is the whole of the check, and starts no service
const port = process.env['PORT'];

const end = (healthy: boolean, said: string) => {
  process.stdout.write(`${said}\n`);
  process.exit(healthy ? 0 : 1);
};

if (port === undefined) end(true, 'it serves nobody');
const request = get({ host: '127.0.0.1', port, path: '/readyz', timeout: WITHIN_MS }, (response) => {
  let body = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => (body += chunk));
  response.on('end', () => end(response.statusCode === 200, body));
});
request.on('timeout', () => request.destroy(new Error(`no answer within ${WITHIN_MS} ms`)));
request.on('error', (error) => end(false, error.message));
