// A small collector for tests: it checks the header of an upload, counts each id once and says so, as the real one does.
import { createServer } from "node:http";

const problem = (response, status, type, headers = {}) => {
  response.writeHead(status, {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Retry-After",
    "Content-Type": "application/problem+json",
    ...headers,
  });
  response.end(JSON.stringify({ type: `urn:ldpkit:problem:${type}`, status }));
};

const bodyOf = async (request) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
};

/**
 * Start a collector. `envelope` is what it serves; `questions` are { number, fingerprint (hex of the wire), bytes }.
 * `next` may be set to a function that answers the next requests instead; it returns false to let one through.
 */
export async function startCollector({ envelope, version, questions }) {
  const collector = { envelope, accepted: new Map(), order: [], requests: [], conflicts: [], next: undefined };
  const server = createServer(async (request, response) => {
    response.shouldKeepAlive = false; // or a connection that one test cuts off fails the first request of the next
    try {
      const { method, url, headers } = request;
      const body = await bodyOf(request);
      collector.requests.push({ method, url, headers, size: body.length });
      if (collector.next?.({ request, response, method, body, problem }) ?? false) return;
      if (method === "GET") {
        response.writeHead(200, { "Access-Control-Allow-Origin": "*", "Content-Type": "application/json" });
        return response.end(
          typeof collector.envelope === "string" ? collector.envelope : JSON.stringify(collector.envelope),
        );
      }
      if (method !== "POST") return problem(response, 405, "no-such-method"); // a preflight among others
      if (body.length < 22 || body.toString("latin1", 0, 4) !== "LDPU" || body[4] !== 1 || body[5] !== 0)
        return problem(response, 400, "malformed-upload");
      if (body.readUInt16LE(6) !== version) return problem(response, 409, "outdated-collection");
      const number = body.readUInt16LE(8);
      const question = questions[number];
      if (!question || body.toString("hex", 14, 22) !== question.fingerprint)
        return problem(response, 400, "foreign-reports");
      const size = 8 + question.bytes;
      if (body.length === 22 || (body.length - 22) % size) return problem(response, 400, "malformed-upload");
      const outcome = { accepted: 0, duplicate: 0, refused: 0 };
      for (let at = 22; at < body.length; at += size) {
        const id = body.toString("hex", at, at + 8);
        const report = `${number}/${body.readUInt32LE(10)}/${body.toString("hex", at + 8, at + size)}`;
        if (!collector.accepted.has(id)) {
          collector.accepted.set(id, report);
          collector.order.push(id);
          outcome.accepted++;
        } else {
          outcome.duplicate++;
          if (collector.accepted.get(id) !== report) collector.conflicts.push(id); // a report that was drawn twice
        }
      }
      response.writeHead(200, { "Access-Control-Allow-Origin": "*", "Content-Type": "application/json" });
      response.end(JSON.stringify(outcome));
    } catch (error) {
      response.destroy(error);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  collector.url = `http://127.0.0.1:${server.address().port}`;
  collector.close = () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve)));
  return collector;
}
