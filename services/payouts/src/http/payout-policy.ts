import { addressHint } from '@quittance/chains/address-hint';
import { type Chain, chains as knownChains } from '@quittance/shared/assets';
import { form } from '@quittance/shared/form';
import { contextOf, readBody, takesNoParameters, unknownInput } from '@quittance/shared/http';
import { type Answer, accessAnswers, answers, send } from '@quittance/shared/http-answers';
import { actorOf } from '@quittance/shared/identity';
import { pageForm, pageOf, pageView, placeOf } from '@quittance/shared/pages';
import { messages, rules } from '@quittance/shared/validation';
import type { Express, Request, RequestHandler, Response } from 'express';
import { addAddress, replacePolicy } from '../operations/change-policy.ts';
import { ADDRESS_CHARACTERS_MAX, checkRecipient } from '../payout-order.ts';
import { LABEL_CHARACTERS_MAX, readPayoutPolicy } from '../policy-order.ts';
import { addressView, policyView } from '../policy-views.ts';
import type { Ports } from '../ports.ts';
import { ADDRESSES_MAX, addressPage, deleteAddress, findAddress } from '../store/payout-addresses.ts';
import { findPolicy } from '../store/policies.ts';

/** What an account allows of its payouts. */
export function addPolicyRoutes(app: Express, ports: Ports, merchant: RequestHandler): void {
  app.get('/api/payout-policy', merchant, takesNoParameters, async (_req, res) => {
    const found = await findPolicy(ports.db, contextOf(res).identity.account);
    send(res, { status: 200, body: policyView(found, ports.clock.now()) });
  });
  app.put('/api/payout-policy', merchant, takesNoParameters, ...readBody, async (_req, res) =>
    send(res, await putPolicy(ports, res)),
  );
  app.get('/api/address-book', merchant, async (req, res) => send(res, await listAddresses(ports, req, res)));
  app.post('/api/address-book', merchant, takesNoParameters, ...readBody, async (_req, res) =>
    send(res, await postAddress(ports, res)),
  );
  app.delete('/api/address-book/:id', merchant, ...readBody, async (req, res) =>
    send(res, await removeAddress(ports, req, res)),
  );
}

async function putPolicy(ports: Ports, res: Response): Promise<Answer> {
  const { identity, body } = contextOf(res);
  const wanted = readPayoutPolicy(body);
  if (!wanted.ok) return answers.invalid(wanted.refusal);
  const stored = await replacePolicy(ports, identity.account, wanted.value, actorOf(identity));
  const data = policyView(stored, ports.clock.now());
  return { status: 200, body: { message: 'Payout policy saved successfully.', data } };
}

async function listAddresses({ db, settings }: Ports, req: Request, res: Response): Promise<Answer> {
  const { query } = req;
  const parsed = pageForm(query);
  if (!parsed.ok) return answers.invalid(parsed.refusal);
  const page = pageOf(query);
  const { perPage } = parsed.value;
  const { account } = contextOf(res).identity;
  const { items, total } = await addressPage(db, account, placeOf(page, perPage));
  const path = `${settings.publicUrl}/api/address-book`;
  return { status: 200, body: pageView({ data: items.map(addressView), total, page, perPage, path, query }) };
}

export const readAddress = form({
  chain: rules.oneOf<Chain>(knownChains).required,
  address: rules.text(ADDRESS_CHARACTERS_MAX).required,
  label: rules.text(LABEL_CHARACTERS_MAX).required,
});

async function postAddress(ports: Ports, res: Response): Promise<Answer> {
  const { identity, body } = contextOf(res);
  const given = readAddress(body);
  if (!given.ok) return answers.invalid(given.refusal);
  const { chain, label } = given.value;
  const on = ports.chains.get(chain);
  if (on === undefined)
    return answers.invalid({ chain: [messages.invalid('chain', `${chain} cannot be paid out here.`)] });
  const address = checkRecipient(on, given.value.address);
  if (address === undefined) {
    const hint = addressHint(on.kind, given.value.address, on.sender.hotAddress);
    return answers.invalid({ address: [messages.invalid('address', hint)] });
  }
  const stored = await addAddress(ports, identity.account, { chain, address, label }, actorOf(identity));
  if (stored === undefined)
    return answers.conflict(`The address book has ${ADDRESSES_MAX} addresses: delete one first.`);
  const message = stored.isNew ? 'Address added successfully.' : 'The address is in the address book.';
  return { status: stored.isNew ? 201 : 200, body: { message, data: addressView(stored) } };
}

async function removeAddress({ db, logger }: Ports, req: Request, res: Response): Promise<Answer> {
  const { identity } = contextOf(res);
  const found = await findAddress(db, String(req.params['id']));
  if (found === undefined) return accessAnswers('Address').not_found;
  if (found.account !== identity.account) return accessAnswers('Address').forbidden;
  const refused = unknownInput(req, res);
  if (refused !== undefined) return refused;
  await deleteAddress(db, found.id);
  const { account } = identity;
  logger.info(
    { account, actor: actorOf(identity), address: found.id },
    'an address was deleted from an address book',
  );
  return { status: 200, body: { message: 'Address deleted successfully.' } };
}
