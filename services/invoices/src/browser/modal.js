// For pages of shops: opens a payment page in a dialog over the page. Without it the link is an ordinary link.
// <script src="https://pay.example/pay/assets/modal.js" async></script>
// <a href="https://pay.example/link/plink_…" data-quittance>Pay</a>
// The link hears of each state by the event `quittance`; what is paid, the shop's server learns from a webhook.
(() => {
  const { origin } = new URL(document.currentScript.src);

  const open = (address, told = () => {}) => {
    const url = new URL(address, origin);
    if (url.origin !== origin) throw new Error(`Quittance opens pages of ${origin} only`);
    const dialog = document.createElement('dialog');
    const frame = document.createElement('iframe');
    const button = document.createElement('button');
    const size = 'width:min(30rem,94vw);height:min(54rem,90vh);border:0';
    dialog.style.cssText = `${size};padding:0;border-radius:14px;overflow:hidden`;
    frame.style.cssText = 'width:100%;height:100%;border:0';
    button.style.cssText =
      'position:absolute;top:0;right:0;width:44px;height:44px;border:0;background:none;font-size:24px';
    frame.src = url;
    frame.title = 'Payment';
    frame.allow = 'clipboard-write';
    button.textContent = '×';
    button.ariaLabel = 'Close';
    let isHeard = false;
    const hear = (event) => {
      if (event.origin !== origin || event.source !== frame.contentWindow) return;
      isHeard = true;
      const state = event.data.quittance;
      if (state === 'close') dialog.close();
      else told(state);
    };
    addEventListener('message', hear);
    button.onclick = () => dialog.close();
    // The page does not answer: this shop may not frame it.
    const timer = setTimeout(() => isHeard || location.assign(url), 8000);
    dialog.onclose = () => {
      clearTimeout(timer);
      removeEventListener('message', hear);
      dialog.remove();
    };
    dialog.append(frame, button);
    document.body.append(dialog);
    dialog.showModal();
  };

  window.Quittance = { open };
  addEventListener('click', (event) => {
    const link = event.target.closest?.('a[data-quittance]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    open(link.href, (state) => {
      link.dispatchEvent(new CustomEvent('quittance', { bubbles: true, detail: { state } }));
    });
    event.preventDefault();
  });
})();
