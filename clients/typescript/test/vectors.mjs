// Runs the golden vectors of spec/vectors through a client, in node or in a page: no imports, so that both can load it.

const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const number = (bytes) => bytes.reduceRight((sum, byte) => 256n * sum + BigInt(byte), 0n);

/** What `placeOf` needs of a sampler: vectors of places name no more of it. */
function partial({ form, stand, grid, shape, first, second, reference }) {
  if (form === "pair") {
    const parts = [partial(first), partial(second)];
    return {
      axes: parts.flatMap(({ axes }) => axes),
      grid: parts.flatMap((each) => each.grid),
      reference,
      sectors: first.stand === "sector",
    };
  }
  if (shape) return { axes: shape };
  if (grid === undefined) return { axes: [Infinity] };
  const places = ["wrap", "sector"].includes(stand) || form === "turned" ? grid : grid + 1;
  return form === "planar" ? { axes: [places, places], grid: [grid, grid] } : { axes: [places], grid: [grid] };
}

/**
 * Compare every vector; returns how many comparisons were equal by file, how many vectors of reports by mechanism
 * and how many refusals of forged samplers, and what was not equal.
 *
 * @param client - The parts of the client; `reportFor` may be that of the built file.
 * @param files - The contents of spec/vectors by name.
 * @param damage - Changes what is expected: the negative control.
 */
export async function runVectors(client, files, damage = (wanted) => wanted) {
  const equal = {};
  const vectors = {};
  const wrong = [];
  let file;
  const same = (found, wanted, what) => {
    const isEqual = found === damage(wanted);
    if (isEqual) equal[file] = (equal[file] ?? 0) + 1;
    else wrong.push(`${file}: ${what}: ${found}, not ${wanted}`.slice(0, 300));
    return isEqual;
  };
  const count = (isEqual) => (vectors[file] = (vectors[file] ?? 0) + isEqual);
  const attempt = (work) => {
    try {
      return work();
    } catch (error) {
      return `${error.code}: ${error.message}`;
    }
  };
  const special = {
    canonical: ({ json, canonical }) => same(client.canonical(JSON.parse(json)), canonical, json),
    charges: ({ micro, num, den, times, covers }) =>
      same(
        String(client.covers(micro === "infinite" ? Infinity : micro, [BigInt(num), BigInt(den), times])),
        String(covers),
        `${micro} ${num}`,
      ),
    choices: async ({ secret, collection, questions, ask, drawn }) => {
      const asked = questions.map((id) => ({ id }));
      const found = await client.drawnQuestions(fromHex(secret), collection, asked, ask);
      same(found.map(({ id }) => id).join(), drawn.join(), collection);
    },
    ids: async ({ secret, collection, question, round, id, bytes }) => {
      const found = await client.uploadId(fromHex(secret), collection, question, round);
      same(`${hex(found)} ${number(found)}`, `${bytes} ${id}`, question);
    },
    labels: async ({ secret, collection, question, mechanism, domain, integers, state, key }) => {
      const label = await client.questionLabel(collection, question, mechanism, domain, integers.map(BigInt));
      same(hex(await client.permanentKey(fromHex(secret), label, state ?? undefined)), key, question);
    },
    streams: async ({ key, bytes }) => same(hex(await client.keyStream(fromHex(key), bytes.length / 2)), bytes, key),
    places: ({ kind, domain, sampler, value, place }) =>
      same(
        attempt(() => client.placeOf(kind, domain, partial(sampler), value).join()),
        [place].flat().join(),
        JSON.stringify(value),
      ),
    forged: ({ sampler, why }) =>
      count(same(attempt(() => client.readSampler(sampler, "sampler") && "taken").replace(/:.*/s, ""), "sampler", why)),
    ledgers: ({ ledger, total }) => {
      const answers = ledger.charges
        .map((each) => ({ ...each, micro: each.micro === "infinite" ? null : each.micro }))
        .reverse();
      same(JSON.stringify(client.ledgerOf(answers, ledger.cap)), JSON.stringify(ledger), "ledger");
      same(String(client.total(answers)), String(total).replace("infinite", "Infinity"), "total");
    },
    uploads({ is_seeded: isSeeded, version, question, round, fingerprint, records, bytes }) {
      if (isSeeded || records.length !== 1) return; // a device makes neither
      const little = (digits) => hex(fromHex(BigInt(digits).toString(16).padStart(16, "0")).reverse());
      same(
        hex(
          client.encodeUpload(
            { version },
            { number: question, fingerprint: fromHex(little(fingerprint)) },
            round,
            fromHex(little(records[0].id)),
            fromHex(records[0].report),
          ),
        ),
        bytes,
        "upload",
      );
    },
  };
  for (const [name, entries] of Object.entries(files)) {
    file = name;
    for (const entry of entries) {
      if (special[name]) await special[name](entry);
      else await runMechanism(client, entry, same, attempt, count);
    }
  }
  return { equal, vectors, wrong };
}

async function runMechanism(
  client,
  { name, mechanism, domain, sampler, report_bytes: bytes, charges, devices = [], vectors },
  same,
  attempt,
  count,
) {
  const reads = client.readSampler(sampler, "sampler");
  same(reads.size, bytes, `${name} report_bytes`);
  for (const { of, num, den, times, least } of charges) {
    const ratio = of === "first" ? reads.ratio : reads.memory[of];
    if (least === null || least === "infinite") {
      same(String(client.covers(2 ** 53 - 1, ratio)), "false", `${name} ${of}`);
      continue;
    }
    // Ratios may be written in other terms; what they are worth is the same to the millionth.
    same(
      String(client.covers(least, ratio) && (least === 0 || !client.covers(least - 1, ratio))),
      "true",
      `${name} ${of}`,
    );
    if (num !== undefined)
      same(
        String(ratio[0] * BigInt(den) === ratio[1] * BigInt(num) && (ratio[2] ?? 1) === times),
        "true",
        `${name} ${of} ratio`,
      );
  }
  for (const { secret, collection, question, label, place, permanent } of devices) {
    const values = domain?.product ? reads.axes[0] : domain;
    const found = await client.questionLabel(collection, question, mechanism, values, reads.memory.integers);
    same(hex(found), label, `${name} label`);
    same(hex(await client.permanentReport(fromHex(secret), found, reads, place)), permanent, `${name} permanent`);
  }
  for (const [stage, place, from, random, report] of vectors) {
    const part = stage === "draw" ? undefined : { stage, from: fromHex(from) };
    const made = attempt(() => hex(client.reportFor(sampler, place ?? 0, fromHex(random), part)));
    count(same(made, report, `${name} ${stage} ${place}`));
    // Every byte is consumed: with one less there are too few.
    if (random)
      same(
        attempt(() => client.reportFor(sampler, place ?? 0, fromHex(random.slice(0, -2)), part) && "made"),
        "undefined: no random bytes are left",
        `${name} ${stage} ${place}, a byte less`,
      );
  }
}
