import { Page } from '../../parts/page.tsx';

export const RoutePage = () => <Page title="payment-link">.</Page>;
