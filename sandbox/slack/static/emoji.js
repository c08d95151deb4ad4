// Shortcodes that status messages use. Unknown ones stay as text, as in Slack.

const SIGNS = new Map(
  `
  white_check_mark ✅ | heavy_check_mark ✔️ | ballot_box_with_check ☑️ | x ❌ | negative_squared_cross_mark ❎ |
  no_entry ⛔ | no_entry_sign 🚫 | octagonal_sign 🛑 | warning ⚠️ | rotating_light 🚨 | construction 🚧 |
  information_source ℹ️ | question ❓ | exclamation ❗ | heavy_exclamation_mark ❗ | grey_question ❔ | bangbang ‼️ |
  hourglass ⌛ | hourglass_flowing_sand ⏳ | stopwatch ⏱️ | timer_clock ⏲️ | alarm_clock ⏰ | watch ⌚ | clock1 🕐 |
  clock3 🕒 | clock6 🕕 | clock9 🕘 | clock12 🕛 | calendar 📅 | date 📅 | arrows_counterclockwise 🔄 |
  arrows_clockwise 🔃 | repeat 🔁 | recycle ♻️ | arrow_right ➡️ | arrow_left ⬅️ | arrow_up ⬆️ | arrow_down ⬇️ |
  arrow_forward ▶️ | fast_forward ⏩ | rewind ⏪ | double_vertical_bar ⏸️ | pause_button ⏸️ |
  black_square_for_stop ⏹️ | stop_button ⏹️ | leftwards_arrow_with_hook ↩️ | twisted_rightwards_arrows 🔀 |
  heavy_plus_sign ➕ | heavy_minus_sign ➖ | red_circle 🔴 | large_orange_circle 🟠 | large_yellow_circle 🟡 |
  large_green_circle 🟢 | large_blue_circle 🔵 | blue_circle 🔵 | large_purple_circle 🟣 | white_circle ⚪ |
  black_circle ⚫ | radio_button 🔘 | white_large_square ⬜ | black_large_square ⬛ | large_green_square 🟩 |
  large_yellow_square 🟨 | large_red_square 🟥 | large_blue_square 🟦 | small_blue_diamond 🔹 |
  small_orange_diamond 🔸 | tada 🎉 | sparkles ✨ | star ⭐ | rocket 🚀 | checkered_flag 🏁 | fire 🔥 | boom 💥 | zap ⚡ |
  bulb 💡 | bell 🔔 | no_bell 🔕 | lock 🔒 | unlock 🔓 | key 🔑 | shield 🛡️ | gear ⚙️ | wrench 🔧 | hammer 🔨 |
  hammer_and_wrench 🛠️ | toolbox 🧰 | package 📦 | label 🏷️ | bookmark 🔖 | pushpin 📌 | round_pushpin 📍 |
  paperclip 📎 | link 🔗 | thread 🧵 | memo 📝 | clipboard 📋 | page_facing_up 📄 | page_with_curl 📃 | scroll 📜 |
  bar_chart 📊 | chart_with_upwards_trend 📈 | chart_with_downwards_trend 📉 | mag 🔍 | mag_right 🔎 | eyes 👀 | eye 👁️ |
  speech_balloon 💬 | thought_balloon 💭 | mega 📣 | loudspeaker 📢 | robot_face 🤖 | computer 💻 | desktop_computer 🖥️ |
  electric_plug 🔌 | battery 🔋 | satellite 🛰️ | satellite_antenna 📡 | floppy_disk 💾 | file_folder 📁 |
  open_file_folder 📂 | wastebasket 🗑️ | broom 🧹 | moneybag 💰 | money_with_wings 💸 | dollar 💵 | credit_card 💳 |
  cloud ☁️ | sunny ☀️ | globe_with_meridians 🌐 | world_map 🗺️ | compass 🧭 | traffic_light 🚦 |
  vertical_traffic_light 🚦 | ship 🚢 | anchor ⚓ | truck 🚚 | airplane ✈️ | snail 🐌 | turtle 🐢 | whale 🐳 | ghost 👻 |
  skull 💀 | +1 👍 | thumbsup 👍 | -1 👎 | thumbsdown 👎 | ok_hand 👌 | raised_hand ✋ | hand ✋ | wave 👋 | clap 👏 |
  raised_hands 🙌 | pray 🙏 | muscle 💪 | point_right 👉 | point_left 👈 | point_up ☝️ | point_down 👇 |
  bust_in_silhouette 👤 | busts_in_silhouette 👥 | smile 😄 | slightly_smiling_face 🙂 | thinking_face 🤔 |
  sweat_smile 😅 | cry 😢 | heart ❤️ | green_heart 💚 | blue_heart 💙 | broken_heart 💔 | 100 💯 | new 🆕 | ok 🆗 |
  soon 🔜 | end 🔚 | back 🔙 | zzz 💤 | test_tube 🧪 | microscope 🔬 | inbox_tray 📥 | outbox_tray 📤 | email 📧 |
  envelope ✉️ | ticket 🎫 | game_die 🎲 | jigsaw 🧩 | ladder 🪜 | bricks 🧱 | knot 🪢 | parking 🅿️ | sos 🆘 | one 1️⃣ |
  two 2️⃣ | three 3️⃣ | four 4️⃣ | five 5️⃣ | six 6️⃣ | seven 7️⃣ | eight 8️⃣ | nine 9️⃣ | zero 0️⃣ |
  keycap_ten 🔟 | hash #️⃣
`
    .split("|")
    .map((pair) => pair.trim().split(" ")),
);

export const emoji = (name) => SIGNS.get(name);
