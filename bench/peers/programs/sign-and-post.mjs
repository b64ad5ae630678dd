import { createHmac } from 'node:crypto';
import { Agent } from 'undici';

const agent = new Agent({ connections: 8, pipelining: 1 });

/** Signs by Standard Webhooks and posts; throws when it is not answered 2xx, so that the queue tries again. */
export async function signAndPost({ id, url, secret, body }) {
  const at = Math.floor(Date.now() / 1_000);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  const { origin, pathname } = new URL(url);
  const answer = await agent.request({
    origin,
    path: pathname,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': `v1,${signature}`,
    },
    body,
  });
  await answer.body.dump();
  if (answer.statusCode >= 300) throw new Error(`answered ${answer.statusCode}`);
}
