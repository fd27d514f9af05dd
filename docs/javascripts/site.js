// For people who listen to a page or have no mouse: names the copy buttons of code blocks, which the theme adds later and
// all alike, and lets the keyboard reach tables that are wider than the window.
(() => {
  let number = 0;
  const name = () => {
    for (const bar of document.querySelectorAll(".md-code__nav:not([aria-label])")) {
      bar.setAttribute("aria-label", `Code block ${(number += 1)}`);
    }
    for (const wide of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    }
  };
  addEventListener("resize", name);
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
  name();
})();
