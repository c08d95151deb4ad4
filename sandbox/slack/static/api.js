// Talk to the pretend workspace. Every answer is an object with ok; a failing network reads the same way.

async function answered(request) {
  try {
    const answer = await request;
    return await answer.json();
  } catch {
    return { ok: false, error: "unreachable", message: "The sandbox does not answer." };
  }
}

export function read(what, query = {}) {
  return answered(fetch(`page/${what}?${new URLSearchParams(query)}`));
}

export function act(what, body) {
  const headers = { "Content-Type": "application/json" };
  return answered(fetch(`page/${what}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

// Call `told` for every event, and `state` with true or false when the stream opens or breaks.
export function listen(told, state) {
  const stream = new EventSource("page/events");
  stream.onopen = () => state(true);
  stream.onerror = () => state(false);
  stream.onmessage = (event) => told(JSON.parse(event.data));
}
