import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { type Numbers, type Rpc, RpcRefused } from '@quittance/chains/json-rpc';
import { localPort } from './local-port.ts';

/** What a node answers. An error that is returned or thrown is how the call ends; RpcRefused is the node's own. */
export type Script = (method: string, params: readonly unknown[], numbers?: Numbers) => unknown;

/** A connection to a node of any chain that answers as a test says. */
export function scriptedRpc(script: Script): Rpc {
  const answer = async (method: string, params: readonly unknown[], numbers?: Numbers) => {
    const given = await script(method, params, numbers);
    if (given instanceof Error) throw given;
    return given;
  };
  return {
    call: (method, params, _timeoutMs, numbers) => answer(method, params, numbers),
    batch: (calls) =>
      Promise.all(
        calls.map(({ method, params }) =>
          answer(method, params).catch((error: unknown) => {
            if (error instanceof RpcRefused) return error;
            throw error;
          }),
        ),
      ),
    close: async () => {},
  };
}

type Asked = { id: unknown; method: string; params: readonly unknown[] };

/** The same as a process sees it: a server, which breaks the connection where the script ends a call without an answer. */
export async function startScriptedNode(script: Script) {
  const rpc = scriptedRpc(script);
  async function answerOf(asked: Asked | Asked[]): Promise<string> {
    const calls = [asked].flat();
    const answers = (await rpc.batch(calls)).map((result, i) => ({
      ...{ jsonrpc: '2.0', id: calls[i]?.id },
      ...(result instanceof RpcRefused
        ? { error: { code: result.code, message: result.message } }
        : { result }),
    }));
    return JSON.stringify(Array.isArray(asked) ? answers : answers[0]);
  }
  const server = createServer((request, response) => {
    json(request)
      .then((asked) => answerOf(asked as Asked | Asked[]))
      .then(
        (answer) => response.setHeader('content-type', 'application/json').end(answer),
        () => request.socket.destroy(),
      );
  });
  const port = await localPort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
