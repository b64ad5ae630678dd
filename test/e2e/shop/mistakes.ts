import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Merchant } from '@quittance/testkit/merchant';
import { mistakes } from '../mistakes-table.ts';
import { type Raw, rawHttp } from '../raw-http.ts';
import type { OnStack } from './on-stack.ts';

/** What developers get wrong while they integrate, and what the answer tells them to do. */

type ErrorBody = {
  message: string;
  errors?: Record<string, string[]>;
  code: string;
  hint: string;
  request_id: string;
  doc_url: string;
};

export const mistakeCases = (stack: OnStack): void =>
  describe('a typical mistake is answered with what to do', () => {
    let shop: Merchant;
    let pageOfErrors: string;
    const { send, post } = rawHttp(() => stack().stack.ports.gateway);

    beforeAll(async () => {
      shop = await stack().merchant();
      pageOfErrors = await (await fetch(`${stack().url}/docs/errors`)).text();
    });

    function ask(text: string): Promise<Raw> {
      const [, verb = '', path = '', body = ''] = /^(\w+) (\S+) ?(.*)$/s.exec(text) ?? [];
      const headers = [`Authorization: Bearer ${shop.token}`, 'Content-Type: application/json'];
      return verb === 'POST' ? post(path, body, ...headers) : send(verb, path, headers);
    }

    test('the table has 46 of them', () => {
      expect(mistakes).toHaveLength(46);
    });

    test.each(mistakes)('$what: $send', async ({ send: text, status, field, message, hint }) => {
      const answer = await ask(text);
      const body = answer.body as ErrorBody;
      const said = field === undefined ? [body.message] : body.errors?.[field];
      expect({ status: answer.status, said, hint: body.hint }).toEqual({
        status,
        said: [message],
        hint: expect.stringContaining(hint),
      });
      if (field !== undefined) expect(body.message).toBe('The given data was invalid.');
      expect(body.request_id).toBe(answer.headers.get('x-request-id'));
      expect(body.doc_url).toBe(`${stack().url}/docs/errors#${body.code}`);
      expect(pageOfErrors).toContain(`id="${body.code}"`);
    });
  });
