// Names the copy buttons of code blocks, which the theme adds later and all alike, for people who listen to the page.
(() => {
  let number = 0;
  const name = () => {
    for (const bar of document.querySelectorAll(".md-code__nav:not([aria-label])")) {
      bar.setAttribute("aria-label", `Code block ${(number += 1)}`);
    }
  };
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
  name();
})();
