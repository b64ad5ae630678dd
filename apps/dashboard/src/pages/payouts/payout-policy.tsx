import { Page } from '../../parts/page.tsx';

export const RoutePage = () => <Page title="payout-policy">.</Page>;
