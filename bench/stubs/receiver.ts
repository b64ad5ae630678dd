import { createServer } from 'node:http';

/**
 * The servers of many merchants, each under an address of its own; they answer 200 to every POST at once. `GET /seen`
 * tells how many POSTs came since it was asked last, and how many different webhook-ids they had.
 */
const [, , port = ''] = process.argv;
let posts = 0;
let ids = new Set<string>();

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ posts, ids: ids.size }));
    posts = 0;
    ids = new Set();
    return;
  }
  posts += 1;
  ids.add(`${request.headers.host} ${request.headers['webhook-id']}`);
  request.resume().on('end', () => response.end());
});
// All of 127.0.0.0/8 is this machine: each endpoint can have an origin of its own.
// eslint-disable-next-line no-restricted-syntax -- a port
server.listen(Number(port), '0.0.0.0', 4_096);
