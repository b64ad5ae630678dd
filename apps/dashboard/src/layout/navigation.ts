import {
  type Icon,
  IconAddressBook,
  IconAlertTriangle,
  IconArrowBackUp,
  IconBuildingBank,
  IconBuildingStore,
  IconBuildings,
  IconChecklist,
  IconClipboardList,
  IconCube,
  IconFileInvoice,
  IconHelpHexagon,
  IconHistory,
  IconHome,
  IconKey,
  IconLink,
  IconListDetails,
  IconMail,
  IconMailOff,
  IconRepeat,
  IconReportMoney,
  IconScale,
  IconSend,
  IconShieldLock,
  IconStack2,
  IconUsers,
  IconWallet,
  IconWebhook,
} from '@tabler/icons-react';
import { allows, managesPeople, type Scope, useSession } from '../session/session.ts';

export type Place = {
  to: string;
  label: string;
  icon: Icon;
  /** What the role must allow. */
  needs?: Scope;
  /** Only for those who manage the people of the account. */
  managers?: true;
  /** Only for operators of the installation. */
  operators?: true;
};

/** What the menu, the search of pages and the rights of each page are made of. */
const places: readonly { group: string; places: readonly Place[] }[] = [
  { group: '', places: [{ to: '/', label: 'Home', icon: IconHome }] },
  {
    group: 'Money in',
    places: [
      { to: '/invoices', label: 'Invoices', icon: IconFileInvoice, needs: 'invoices:read' },
      { to: '/payment-links', label: 'Payment links', icon: IconLink, needs: 'invoices:read' },
      { to: '/refunds', label: 'Refunds', icon: IconArrowBackUp, needs: 'refunds:read' },
      { to: '/unresolved', label: 'Unresolved funds', icon: IconHelpHexagon, needs: 'unresolved:read' },
    ],
  },
  {
    group: 'Money out',
    places: [
      { to: '/payouts', label: 'Payouts', icon: IconSend, needs: 'payouts:read' },
      { to: '/payout-batches', label: 'Batches', icon: IconStack2, needs: 'payouts:read' },
      { to: '/automatic-payouts', label: 'Automatic payouts', icon: IconRepeat, needs: 'payouts:read' },
      { to: '/address-book', label: 'Address book', icon: IconAddressBook, needs: 'policy:read' },
      { to: '/payout-policy', label: 'Payout policy', icon: IconChecklist, needs: 'policy:read' },
    ],
  },
  {
    group: 'Books',
    places: [
      { to: '/balances', label: 'Balances', icon: IconWallet, needs: 'balances:read' },
      { to: '/balance-transactions', label: 'Transactions', icon: IconListDetails, needs: 'balances:read' },
      { to: '/statements', label: 'Statements', icon: IconReportMoney, needs: 'balances:read' },
    ],
  },
  {
    group: 'Developers',
    places: [
      { to: '/tokens', label: 'API tokens', icon: IconKey, needs: 'tokens:read' },
      { to: '/webhooks', label: 'Webhooks', icon: IconWebhook, needs: 'webhooks:read' },
      { to: '/events', label: 'Events', icon: IconHistory, needs: 'events:read' },
      { to: '/requests', label: 'Failed requests', icon: IconAlertTriangle, needs: 'requests:read' },
    ],
  },
  {
    group: 'Settings',
    places: [
      { to: '/shop', label: 'Shop', icon: IconBuildingStore, needs: 'settings:read' },
      { to: '/notifications', label: 'Notifications', icon: IconMail, needs: 'mail:read' },
      { to: '/people', label: 'People', icon: IconUsers, managers: true },
      { to: '/audit-log', label: 'Audit log', icon: IconClipboardList, needs: 'audit:read' },
      { to: '/security', label: 'Your sign-in', icon: IconShieldLock },
    ],
  },
  {
    group: 'Operator',
    places: [
      { to: '/operator/chains', label: 'Chains', icon: IconCube, operators: true },
      { to: '/operator/money', label: 'Wallets and queues', icon: IconBuildingBank, operators: true },
      { to: '/operator/reconciliation', label: 'Reconciliation', icon: IconScale, operators: true },
      { to: '/operator/dead-letters', label: 'Dead letters', icon: IconMailOff, operators: true },
      { to: '/operator/accounts', label: 'Accounts', icon: IconBuildings, operators: true },
      { to: '/operator/audit-log', label: 'Audit log of all', icon: IconClipboardList, operators: true },
    ],
  },
];

/** The places that the person may go to. */
export function usePlaces(): { group: string; places: Place[] }[] {
  const session = useSession();
  const isOpen = ({ needs, managers, operators }: Place) =>
    (needs === undefined || allows(session, needs)) &&
    (managers === undefined || managesPeople(session)) &&
    (operators === undefined || session.operator);
  return places
    .map(({ group, places: all }) => ({ group, places: all.filter(isOpen) }))
    .filter(({ places: open }) => open.length > 0);
}
