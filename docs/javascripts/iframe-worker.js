// Search runs in a worker, and browsers refuse workers to pages that were opened from a disk (file:).
// There a hidden frame runs the same script, so that search works without a server and without a network.
(() => {
  if (location.protocol !== "file:") return;

  const prelude = `
    self.postMessage = (data) => frameElement.worker.dispatchEvent(new MessageEvent("message", { data }));
    self.importScripts = (...addresses) => addresses.reduce((before, src) => before.then(() => new Promise((done) => {
      document.body.appendChild(Object.assign(document.createElement("script"), { src, onload: done, onerror: done }));
    })), Promise.resolve());`;

  class IFrameWorker extends EventTarget {
    constructor(address) {
      super();
      this.addEventListener("message", (event) => this.onmessage?.(event));
      this.frame = Object.assign(document.createElement("iframe"), { hidden: true, title: "search", worker: this });
      this.ready = new Promise((done) => {
        const begin = () => {
          document.body.appendChild(this.frame);
          const inside = this.frame.contentDocument;
          const load = (properties) =>
            inside.body.appendChild(Object.assign(inside.createElement("script"), properties));
          load({ textContent: prelude });
          load({ src: new URL(address, document.baseURI), onload: done });
        };
        if (document.body) begin();
        else addEventListener("DOMContentLoaded", begin);
      });
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.IFrameWorker = IFrameWorker; // the search script looks for this name to find its own address
  window.Worker = IFrameWorker;
})();
