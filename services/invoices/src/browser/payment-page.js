// The script of the payment page. It is sent as it is here, without comment lines and indentation (page-scripts.ts), so no text
// goes over several lines. Everything that changes is in <main>, whose attributes say what the script may do:
// data-events (the stream of changes; none: nothing changes any more), data-refresh (seconds between two looks without it),
// data-now (the server's clock), data-state, data-copy and data-copied (texts), data-frames (who may frame the page),
// data-redirect (where it leads after the data-seconds of its note), data-wallet and data-wallet-hash (a second script).
(() => {
  let main = document.querySelector('main');
  const all = (what) => [...main.querySelectorAll(what)];
  const isFramed = parent !== self;
  let data, source, timer, leaving, wallet, asked, skew;

  // A part of <main> that is replaced as a whole may not be read out by a screen reader.
  const say = (text) => {
    document.getElementById('voice').textContent = text;
  };

  const tell = (state) => {
    if (!isFramed) return;
    for (const origin of data.frames.split(' ')) parent.postMessage({ quittance: state }, origin);
  };

  // Without a clipboard (plain HTTP) a click selects the whole text, as the style says.
  const addCopyButton = (place) => {
    const text = place.textContent;
    const button = Object.assign(document.createElement('button'), {
      textContent: data.copy,
      ariaLabel: `${data.copy} ${text}`,
    });
    button.onclick = async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = data.copied;
        say(data.copied);
        setTimeout(() => {
          button.textContent = data.copy;
        }, 2e3);
      } catch {
        // The browser does not let it: the button does not say that it was copied.
      }
    };
    place.append(' ', button);
  };

  const tick = () => {
    for (const time of all('time.left')) {
      const left = Math.max(0, Math.ceil((new Date(time.dateTime) - Date.now() - skew) / 1e3));
      time.textContent = `${Math.floor(left / 60)}:${`${left % 60}`.padStart(2, 0)}`;
      if (!left && Date.now() - asked > 5e3) show();
    }
  };

  const begin = () => {
    data = main.dataset;
    asked = Date.now();
    skew = new Date(data.now) - asked;
    if (navigator.clipboard) all('.copy').forEach(addCopyButton);
    if (data.wallet) dispatchEvent(new Event('eip6963:requestProvider'));
    if (!data.events) source?.close();
    // Nobody is led away in the frame of a shop.
    const [soon] = all('[data-seconds]');
    if (isFramed) soon?.remove();
    else if (soon && !leaving)
      leaving = setTimeout(() => data.redirect && location.assign(data.redirect), soon.dataset.seconds * 1e3);
    tick();
    tell(data.state);
  };

  const keyOf = (one) => one.ariaLabel || one.value || one.textContent;

  // Keeps open what was opened, and the focus where it was; when its element has gone, the heading has it.
  const replace = (page) => {
    const next = page.querySelector('main');
    const [focused] = all(':focus');
    const isOpen = all('details[open]').length;
    if (page.title !== document.title) say(page.title);
    document.title = page.title;
    main.replaceWith(next);
    main = next;
    begin();
    for (const one of all('details')) one.open = isOpen;
    if (!focused) return;
    const [h1] = all('h1');
    h1.tabIndex = -1;
    (all('a,button,summary').find((one) => keyOf(one) === keyOf(focused)) ?? h1).focus();
  };

  // The server gives `data-refresh` to every page that asks; without it a page would ask without end.
  const later = (work) => {
    clearTimeout(timer);
    timer = setTimeout(work, (data.refresh ?? 30) * 1e3);
  };

  // Of several questions the last one counts. Offline, or when it asked too often, what is shown stays.
  const show = async () => {
    asked = Date.now();
    const turn = asked;
    try {
      const answer = await fetch(location);
      const text = await answer.text();
      if (!answer.ok) throw text;
      if (turn === asked) replace(new DOMParser().parseFromString(text, 'text/html'));
    } catch {
      if (turn === asked) later(show);
    }
  };

  // A hidden page keeps no connection: a browser has few of them for all pages of a host.
  const listen = () => {
    source?.close();
    if (!data.events) return;
    clearTimeout(timer);
    const look = () => show().then(listen);
    if (document.hidden) return later(look);
    source = new EventSource(data.events);
    source.onmessage = show;
    source.onerror = () => source.readyState === 2 && later(look);
  };

  // Wallets of the browser announce themselves (EIP-6963).
  addEventListener('eip6963:announceProvider', () => {
    if (wallet || !data.wallet) return;
    wallet = Object.assign(document.createElement('script'), {
      src: data.wallet,
      integrity: data.walletHash,
    });
    document.head.append(wallet);
  });
  addEventListener('keydown', ({ key }) => key === 'Escape' && tell('close'));
  addEventListener('visibilitychange', listen);
  setInterval(tick, 1e3);
  begin();
  listen();
})();
