// "Pay with the wallet of this browser", for wallets that announce themselves (EIP-6963). The script of the payment page loads
// it when there is one, and lets wallets announce themselves again after each change of <main>. It asks for one transaction with
// the values that the server has put into <main>: it computes no amount, and asks for no allowance. The name of a wallet is not
// ours: it is shown as text. Its icon is not shown.
(() => {
  const NAME_CHARACTERS_MAX = 40;
  // Of EIP-1193, and of EIP-3085 for a network that the wallet does not know.
  const REJECTED = 4001;
  const UNKNOWN_NETWORK = 4902;
  // Of ours: nothing was sent, the page asks for another payment by now or for none.
  const CHANGED = 'changed';

  const wallets = new Map();
  // The payments that a wallet is asked for or has sent, which are not asked for twice, and what is said of each.
  const begun = new Set();
  const notes = new Map();

  const paymentIn = ({ chain, to, value, call }) => [chain, to, value, call].join(' ');
  const wanted = () => paymentIn(document.querySelector('main').dataset);

  const transactionOf = async (provider, { chain, to, value, call }) => {
    const [from] = await provider.request({ method: 'eth_requestAccounts' });
    const isThere = async () => BigInt(await provider.request({ method: 'eth_chainId' })) === BigInt(chain);
    if (!(await isThere())) {
      await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: chain }] });
      if (!(await isThere())) throw { code: UNKNOWN_NETWORK };
    }
    return { from, to, value, data: call, chainId: chain };
  };

  const show = (payment, text) => {
    notes.set(payment, text);
    if (payment === wanted()) document.getElementById('voice').textContent = text;
    offer();
  };

  const pay = async (provider) => {
    const { dataset } = document.querySelector('main');
    const payment = paymentIn(dataset);
    if (begun.has(payment)) return;
    begun.add(payment);
    show(payment, dataset.walletAsked);
    let isHandedOver = false;
    try {
      const transaction = await transactionOf(provider, dataset);
      if (payment !== wanted()) throw { code: CHANGED };
      isHandedOver = true;
      await provider.request({ method: 'eth_sendTransaction', params: [transaction] });
      show(payment, dataset.walletSent);
    } catch (error) {
      // A wallet may have sent what it then reports a problem of: asked once more, it would pay twice.
      if (isHandedOver && error?.code !== REJECTED) return show(payment, dataset.walletUnsure);
      begun.delete(payment);
      const texts = {
        [REJECTED]: dataset.walletRejected,
        [UNKNOWN_NETWORK]: dataset.walletNetwork,
        [CHANGED]: '',
      };
      show(payment, texts[error?.code] ?? dataset.walletFailed);
    }
  };

  const buttonOf = ({ info, provider }, { walletPay }, isDisabled) => {
    const button = document.createElement('button');
    const name = String(info.name).slice(0, NAME_CHARACTERS_MAX);
    button.type = 'button';
    button.className = 'button';
    button.textContent = walletPay.replace('{wallet}', () => name);
    button.disabled = isDisabled;
    button.onclick = () => pay(provider);
    return button;
  };

  const offer = () => {
    const main = document.querySelector('main');
    const { dataset } = main;
    let place = main.querySelector('.wallets');
    if (!dataset.wallet) return place?.remove();
    if (!place) {
      place = document.createElement('div');
      place.className = 'wallets';
      main.querySelector('a.button').after(place);
    }
    const isBegun = begun.has(wanted());
    const text = document.createElement('p');
    text.className = 'soft';
    text.textContent = notes.get(wanted()) ?? '';
    place.replaceChildren(...[...wallets.values()].map((one) => buttonOf(one, dataset, isBegun)), text);
  };

  addEventListener('eip6963:announceProvider', ({ detail }) => {
    wallets.set(detail.info.uuid, detail);
    offer();
  });
  dispatchEvent(new Event('eip6963:requestProvider'));
})();
