import type { Example } from '@quittance/shared/reference';
import { AT, exampleIds, examplePage, LATER } from '@quittance/shared/reference-examples';
import type { z } from 'zod';
import type { auditEntry, failedRequest } from './activity.ts';
import type { newToken, rotatedToken, token } from './tokens.ts';

const { token: id } = exampleIds;

const till: z.input<typeof token> = {
  id,
  name: 'till 2',
  hint: 'k3Xz',
  state: 'active',
  current: false,
  scopes: ['invoices:write'],
  allowed_ips: ['203.0.113.0/24', '2001:db8::/48'],
  created_at: AT,
  expires_at: null,
  revoked_at: null,
  replaced_by: null,
  last_used_at: LATER,
  last_used_ip: '203.0.113.7',
};

const itself = 'qt_… (52 characters)';
const created: z.input<typeof newToken> = {
  ...till,
  last_used_at: null,
  last_used_ip: null,
  token: itself,
};
const rotated: z.input<typeof rotatedToken> = { ...created, former_token_expires_at: LATER };

const failed: z.input<typeof failedRequest> = {
  id: 'req_01kawxp2m9h9bkzv3xqnm40y2r6d8tfs57cg',
  created_at: AT,
  method: 'POST',
  path: '/api/invoices',
  status: 422,
  code: 'invalid_request',
  token_id: id,
  person_id: null,
  person_name: null,
  address: '203.0.113.7',
};

const entry: z.input<typeof auditEntry> = {
  id: 'a3'.repeat(32),
  created_at: AT,
  actor: { type: 'token', id, name: 'till 2' },
  action: 'settings.change_requested',
  subject: 'PUT /api/payout-policy',
  token_id: id,
  detail: failed.id,
  address: '203.0.113.7',
};

export const examples: Readonly<Record<string, Example>> = {
  listTokens: { answer: examplePage('/api/tokens', till) },
  listRequests: { query: { perPage: 10 }, answer: examplePage('/api/requests', failed) },
  listAuditLog: { query: { perPage: 10 }, answer: examplePage('/api/audit-log', entry) },
  createToken: {
    body: {
      name: till.name,
      scopes: till.scopes,
      allowed_ips: till.allowed_ips,
    },
    answer: { message: 'Token created successfully.', data: created },
  },
  getToken: { params: { id }, answer: till },
  rotateToken: {
    params: { id },
    body: { overlap_hours: 1 },
    answer: { message: 'Token rotated successfully.', data: rotated },
  },
  revokeToken: { params: { id }, answer: { message: 'Token revoked successfully.' } },
};
