"""What people do in the pretend workspace, as a page for eyes and as JSON for scripts.

`slack_page` in endpoints.json is the URL of `/`, with its trailing slash; the rest hangs below it:

    GET  {slack_page}                     the HTML page
    GET  {slack_page}page/people          {"ok", "people": [{"id","name","role"}], "bot": {"id","name"},
                                           "channels": [{"id","name","is_im","is_member","user"?}], "channel": id of the
                                           channel where the bot is a member, "team": {"id","name"}}
    POST {slack_page}page/type            {"user","channel","text","thread_ts"?}
    POST {slack_page}page/click           {"user","channel","ts","action_id","value"?,"block_id"?}
    GET  {slack_page}page/messages        ?channel=&user=  (user: whose ephemeral messages are included)
    GET  {slack_page}page/events          server-sent events, one JSON object each: {"type","channel","ts","user"?}
    GET  {slack_page}page/views           ?user=  the open modal and the Home tab of one person
    POST {slack_page}page/submit          {"user","view_id","values": {block_id: {action_id: text or option value}}}
    POST {slack_page}page/close           {"user","view_id"}
    POST {slack_page}page/home            {"user"}  opens the app's Home tab (app_home_opened)
    POST {slack_page}page/switch          {"name","value"?}: drop_sockets, refuse_tickets (value: how many, -1 all),
                                           duplicate (value: how many envelopes), silent (value: true or false),
                                           refresh, request_url (value: URL or ""), limits (value: true or false),
                                           archive (value: channel), kick (value: channel)

`user` is an id (U…) or a name, `channel` an id or a name with or without "#"; "@name" or a D… id is that person's
direct message with the bot. Where `user` is left out the first person of the scenario acts, where `channel` is left
out the channel of the scenario.

`type` and `click` answer when the app has acknowledged, or 3 s later:

    {"ok": true,  "ack": {…payload of the ack, {} when empty…}, "envelope_id": "…", "seconds": 0.012}
    {"ok": false, "error": "dispatch_failed" | "operation_timeout" | "no_such_channel" | …, "message": "what a person reads"}

A text without "/" at its beginning is an ordinary message: {"ok": true, "ts": "…"}.

`messages` answers {"ok": true, "channel": {...}, "messages": [...]}, oldest first, threads included, each:

    {"ts","thread_ts" (absent outside threads),"user" (author's id),"name","bot" (bool),"text","blocks",
     "edited" (bool),"ephemeral" (bool),"reply_count","pinned" (bool),"reactions": [{"name","count","users"}],
     "metadata"?, "buttons": [{"action_id","block_id","value","text","style","confirm" (object or null),"type"}]}

Nothing here decides what a message means: a click is handed to the app exactly as Slack would.
"""
