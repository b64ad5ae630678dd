import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const TURNS = 50;
const TURN_MS = 200;

export type Answered = { status: number; body: unknown };

/** Was sent on a connection that had answered before, or has begun to be answered: a gateway has broken it. */
class Broken extends Error {
  override name = 'Broken';
}

/**
 * A merchant behind a load balancer, as operators have one in front of several gateways: a gateway that takes no
 * connection is passed over, and so is one behind whose port nobody listens yet. One that breaks a connection under a
 * request has failed it.
 */
export function balanced(urls: readonly string[], token: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  let turn = 0;

  function send(url: string, method: 'GET' | 'POST', headers: Record<string, string>, order?: object) {
    return new Promise<Answered>((resolve, reject) => {
      let answered = false;
      const fail = (error: Error) =>
        reject(outgoing.reusedSocket || answered ? new Broken(error.message, { cause: error }) : error);
      const outgoing = request(url, { method, agent, headers }, (answer) => {
        answered = true;
        const status = answer.statusCode ?? 0;
        text(answer).then((body) => resolve({ status, body: JSON.parse(body) }), fail);
      });
      outgoing.on('error', fail);
      outgoing.end(order === undefined ? undefined : JSON.stringify(order));
    });
  }

  async function call(method: 'GET' | 'POST', path: string, order?: object): Promise<Answered> {
    turn += 1;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(method === 'POST' ? { 'idempotency-key': randomUUID() } : {}),
    };
    for (let tries = 0; ; tries++) {
      // Nobody takes a connection: a moment later somebody may.
      if (tries > 0 && tries % urls.length === 0) await sleep(TURN_MS);
      try {
        return await send(`${urls[(turn + tries) % urls.length]}${path}`, method, headers, order);
      } catch (error) {
        if (error instanceof Broken || tries >= urls.length * TURNS) throw error;
      }
    }
  }

  return {
    get: (path: string) => call('GET', path),
    post: (path: string, order: object) => call('POST', path, order),
    close: () => agent.destroy(),
  };
}
