"""Edits of single fields of the example fleets, each with the classes of impact that it has.

The labels say what the field means to the people who run the fleet; they were written from the documentation of the
fields and of the node, not from what the review prints. A row is the table of the spec, what stands there, what is
written instead, and the classes. Nothing before is a new line of the table; nothing after removes the line.
"""

from __future__ import annotations

from typing import NamedTuple

Row = tuple[str, str, str, str]

DEMO: tuple[Row, ...] = (
    ("orchestrators.orch", "max_sessions = 4", "max_sessions = 8", "capacity restart"),
    ("orchestrators.orch", "monitor = true", "monitor = false", "restart"),
    ("orchestrators.orch", "", "verbosity = 6", "restart"),
    ("orchestrators.orch", ":8935", ":9000", "identity exposure restart"),
    ("orchestrators.orch", '"studio.example.net:8935"', '"studio-2.example.net:8935"', "identity restart"),
    ("orchestrators.orch", 'service = "studio.example.net:8935"', "", "none"),
    ("orchestrators.orch", "", 'http = "0.0.0.0:8935"', "none"),
    ("orchestrators.orch", "", 'http = "127.0.0.1:8935"', "exposure restart"),
    ("orchestrators.orch", "", "http_tls = false", "exposure restart"),
    ("orchestrators.orch", "", 'cli = "127.0.0.1:7936"', "restart"),
    ("orchestrators.orch", "", 'cli = "0.0.0.0:7935"\ncli_exposed = true', "exposure restart"),
    ("orchestrators.orch", "", 'data_dir = "/srv/orch"', "restart"),
    ("orchestrators.orch", "", "test_gpu = false", "restart"),
    ("orchestrators.orch", "", 'price = "1 wei / pixel"', "restart"),
    ("orchestrators.orch", "", 'secret = { env = "ORCH_SECRET" }', "exposure restart"),
    ("orchestrators.orch", "", 'environment = { GOMEMLIMIT = "4GiB" }', "restart"),
    ("orchestrators.orch", "", 'secret_environment = { UPLOAD_TOKEN = { env = "UPLOAD_TOKEN" } }', "restart"),
    ("orchestrators.orch", "", 'image = "livepeer/go-livepeer:v0.9.1"', "none"),
    ("orchestrators.orch", "", 'image = "registry.example.net/livepeer:v0.9.1"', "restart"),
    ("orchestrators.orch", "", 'node_release = "v0.9.0"', "restart"),
    ("orchestrators.orch", "", "availability_check = false", "restart"),
    ("orchestrators.orch", "", 'object_store = { env = "STORE" }', "restart"),
    ("orchestrators.orch", "", 'auth_webhook = "https://auth.example.net/admit"', "exposure restart"),
    ("orchestrators.orch", "", 'instances = ["https://orch-2.example.net:8935"]', "identity restart"),
    ("orchestrators.orch", "", "metrics_per_stream = true", "restart"),
    ("orchestrators.orch", "", 'transcoding = "local"', "none"),
    ("gateways.gate", '"0.0.0.0:9935"', '"127.0.0.1:9935"', "exposure restart"),
    ("gateways.gate", '"0.0.0.0:9935"', '"0.0.0.0:9936"', "exposure restart"),
    ("gateways.gate", '"0.0.0.0:9935"', '"192.0.2.10:9935"', "exposure restart"),
    ("gateways.gate", '"0.0.0.0:1935"', '"127.0.0.1:1935"', "exposure restart"),
    ("gateways.gate", 'rtmp = "0.0.0.0:1935"', "", "exposure restart"),
    ("gateways.gate", '"0.0.0.0:1935"', '"[::]:1935"', "exposure restart"),
    ("gateways.gate", '"0.0.0.0:1935"', '"[2001:db8::7]:1935"', "exposure restart"),
    ("gateways.gate", "http_ingest = true", "http_ingest = false", "exposure restart"),
    ("gateways.gate", '["P240p30fps16x9", "P360p30fps16x9"]', '["P360p30fps16x9"]', "restart"),
    ("gateways.gate", "", "max_sessions = 20", "capacity restart"),
    ("gateways.gate", "", 'auth_webhook = { env = "AUTH_WEBHOOK" }', "exposure restart"),
    ("gateways.gate", "", 'public = "studio.example.net:9935"', "identity restart"),
    ("gateways.gate", "", "local_verify = true", "restart"),
    ("gateways.gate", "", "max_attempts = 5", "restart"),
    ("gateways.gate", "", 'cli = "127.0.0.1:5936"', "restart"),
    ("gateways.gate", "", 'environment = { LIVE_AI_WHIP_ADDR = "0.0.0.0:7280" }', "exposure restart"),
    ("gateways.gate", "", 'environment = { LIVE_AI_WHIP_ADDR = "127.0.0.1:7280" }', "restart"),
    ("gateways.gate", "", 'selection = { min_performance = "0.5" }', "restart"),
    ("gateways.gate", "", "current_manifest = true", "restart"),
    ("gateways.gate", "", 'max_price = "100 wei / pixel"', "restart"),
    ("gateways.gate", '["orch"]', '["orch", "203.0.113.9:8935"]', "restart"),
    ("hosts.studio", '"192.0.2.10"', '"192.0.2.11"', "identity"),
    ("hosts.studio", '"studio.example.net"', '"studio-b.example.net"', "identity"),
    ("hosts.studio", '"docker"', '"systemd"', "restart"),
    ("hosts.studio", "", 'region = "eu"', "none"),
    ("hosts.studio", "", 'ssh_user = "ops"', "none"),
    ("hosts.studio", "", "ssh_port = 2222", "none"),
    ("hosts.studio", "", "become = true", "none"),
    ("hosts.studio", "", 'node_user = "video"', "none"),
    ("hosts.studio", "", 'binary = "/opt/livepeer/livepeer"', "none"),
    ("hosts.studio", "", 'state_dir = "/srv/livepeer"', "restart"),
    ("hosts.studio", "", 'gpus = [{ model = "RTX 4090", memory = "24 GiB", encode_sessions = 8 }]', "capacity"),
    ("fleet", '"demo"', '"demonstration"', "identity"),
    ("fleet", '"v0.9.1"', '"v0.9.0"', "restart"),
    ("fleet", "", 'image = "registry.example.net/go-livepeer"', "restart"),
    ("", "# The smallest useful fleet", "# The smallest of useful fleets", "none"),
    ("gateways.gate", "monitor = true", "monitor = true  # metrics", "none"),
)

AI_SPLIT: tuple[Row, ...] = (
    ("orchestrators.orch", '"auto"', "16", "capacity restart"),
    ("orchestrators.orch", "orchestrator-secret", "another-secret", "exposure restart cold-start"),
    (
        "orchestrators.orch",
        'host_file = "/etc/livepeer/orchestrator-secret"',
        'vault = "orch_secret"',
        "exposure restart cold-start",
    ),
    ("orchestrators.orch", ', { use = "segment" }', "", "capacity restart"),
    ("orchestrators.orch", "", 'ai_work = "remote"', "none"),
    ("orchestrators.orch", "", "live_runners = true", "exposure restart"),
    ("orchestrators.orch", "", 'environment = { GOGC = "50" }', "restart"),
    ("gateways.gate", '"0.0.0.0:9935"', '"127.0.0.1:9935"', "exposure restart"),
    ("gateways.gate", '["orch"]', '["203.0.113.30:8935"]', "restart"),
    ("gateways.gate", '"P720p30fps16x9"', '"P576p30fps16x9"', "restart"),
    ("gateways.gate", "", 'live = { heartbeat_url = "https://beat.example.net/" }', "restart"),
    ("gateways.gate", "", 'live = { auth_webhook = "https://auth.example.net/live" }', "exposure restart"),
    ("gateways.gate", "", 'ai_retry_timeout = "5s"', "restart"),
    ("transcoders.t-1", "max_sessions = 8", "max_sessions = 4", "capacity restart"),
    ("transcoders.t-1", "gpus = [0]", "", "capacity restart"),
    ("transcoders.t-1", "", 'secret = { env = "OTHER_SECRET" }', "restart"),
    ("transcoders.t-1", "", "hevc_decoding = true", "restart"),
    ("transcoders.t-1", "monitor = true", "", "restart"),
    ("transcoders.t-1", "", 'cli = "127.0.0.1:6936"', "restart"),
    ("transcoders.t-2", "", 'environment = { GOMEMLIMIT = "4GiB" }', "restart"),
    ("transcoders.t-2", "", 'data_dir = "/srv/t-2"', "restart"),
    ("ai_workers.w-1", '{ use = "upscaler", warm = true }', '{ use = "upscaler" }', "cold-start restart"),
    ("ai_workers.w-1", ', { use = "upscaler", warm = true }', "", "capacity cold-start restart"),
    ("ai_workers.w-1", '"all"', "[0, 1]", "none"),
    ("ai_workers.w-1", "", "containers_per_gpu = 2", "capacity cold-start restart"),
    ("ai_workers.w-1", "", 'models_dir = "/srv/models"', "cold-start restart"),
    ("ai_workers.w-1", "", 'runner_image = "livepeer/ai-runner:v0.14.1"', "cold-start restart"),
    ("ai_workers.w-1", "", "runner_logs = true", "cold-start restart"),
    ("ai_workers.w-1", "", 'runner_label = "worker-a"', "cold-start restart"),
    ("ai_workers.w-1", "", "verbosity = 6", "cold-start restart"),
    ("ai_workers.w-2", "", 'environment = { GOMEMLIMIT = "4GiB" }', "cold-start restart"),
    ("ai_workers.w-2", '"segment"', '"realvis"', "capacity cold-start restart"),
    ("ai_workers.w-2", ", warm = true", "", "cold-start restart"),
    ("ai_workers.w-2", "warm = true", "warm = true, capacity = 1", "cold-start restart"),
    ("hosts.front", '"orch.example.net"', '"orch-2.example.net"', "identity cold-start restart"),
    ("hosts.front", '"203.0.113.30"', '"203.0.113.40"', "identity"),
    ("hosts.encoder-1", "encode_sessions = 8", "encode_sessions = 12", "capacity"),
    ("hosts.encoder-1", "", 'node_user = "encoder"', "restart"),
    ("hosts.encoder-1", "", 'binary = "/opt/livepeer/livepeer"', "restart"),
    ("hosts.encoder-2", '"docker"', '"systemd"', "restart"),
    ("hosts.inference-1", "", 'state_dir = "/srv/livepeer"', "cold-start restart"),
    ("hosts.inference-2", '"systemd"', '"docker"', "cold-start restart"),
    ("models.realvis", '"9 GiB"', '"10 GiB"', "none"),
    ("models.realvis", "", 'image = "livepeer/ai-runner:special"', "cold-start restart"),
    ("models.realvis", "", 'price = "1 wei / pixel"', "none"),
    ("models.upscaler", "SFAST = true", "SFAST = false", "cold-start restart"),
    ("models.segment", "sam2-hiera-large", "sam2-hiera-small", "capacity cold-start restart"),
    ("fleet", '"v0.9.1"', '"v0.9.0"', "cold-start restart"),
    ("", "Off-chain, so that it can be tried", "Off-chain: it can be tried", "none"),
)

_WALLET = "0x5555555555555555555555555555555555555555"

DUAL_ONCHAIN: tuple[Row, ...] = (
    ("gateways.gate", '"1500 wei / pixel"', '"1600 wei / pixel"', "price funds restart"),
    ("gateways.gate", '"1500 wei / pixel"', '"1400 wei / pixel"', "price funds restart"),
    ("gateways.gate", '"1500 wei / pixel"', '"any"', "price funds restart"),
    ("gateways.gate", '"1500 wei / pixel"', '"15000 wei / 10 pixels"', "restart"),
    ("gateways.gate", '"1500 wei / pixel"', '"3000 wei / 4 pixels"', "price funds restart"),
    ("gateways.gate", '"5000000 wei / pixel"', '"6000000 wei / pixel"', "price restart"),
    ("gateways.gate", '"5000000 wei / pixel"', '"4800000 wei / pixel"', "price restart"),
    ("gateways.gate", '"0.03 USD', '"0.025 USD', "price restart"),
    ("gateways.gate", '"100 megapixels / s"', '"200 megapixels / s"', "funds"),
    ("gateways.gate", 'expected_load = "100 megapixels / s"', "", "funds"),
    ("gateways.gate", '"20s"', '"10s"', "restart"),
    ("gateways.gate", '"127.0.0.1:8935"', '"0.0.0.0:8935"', "exposure restart"),
    ("gateways.gate", '"127.0.0.1:1935"', '"0.0.0.0:1935"', "exposure restart"),
    ("gateways.gate", "verbosity = 6", "verbosity = 3", "restart"),
    ("gateways.gate", ', "P720p30fps16x9"', "", "restart"),
    ("gateways.gate", "", 'tickets = { max_ev = "4000000000000 wei" }', "funds restart"),
    ("gateways.gate", "", 'tickets = { max_total_ev = "30000000000000 wei" }', "funds restart"),
    ("gateways.gate", "", "tickets = { deposit_multiplier = 2 }", "funds restart"),
    ("gateways.gate", "", 'max_gas_price = "2 gwei"', "funds restart"),
    ("gateways.gate", "", 'min_gas_price = "1 gwei"', "funds restart"),
    ("gateways.gate", "", "gas_limit = 2000000", "funds restart"),
    ("gateways.gate", "", 'transaction_timeout = "5m"', "restart"),
    ("gateways.gate", "", "max_transaction_replacements = 3", "funds restart"),
    ("gateways.gate", "", "initialize_round = true", "chain funds restart"),
    ("gateways.gate", "", "ignore_max_price_if_needed = true", "price funds restart"),
    ("gateways.gate", "", f'price_feed = "{_WALLET}"', "price restart"),
    ("gateways.gate", "", 'selection = { random = "0.5", stake = "0.3", price = "0.2" }', "restart"),
    ("gateways.gate", "", 'selection = { blocked = ["0x2222222222222222222222222222222222222222"] }', "price restart"),
    ("gateways.gate", "", 'live_payment_interval = "10s"', "funds restart"),
    ("gateways.gate", "", 'auth_webhook = "https://auth.example.net/"', "exposure restart"),
    ("gateways.gate", "", 'min_runner_versions = { realvis = "0.14.1" }', "restart"),
    ("gateways.gate", "", 'data_dir = "/srv/gate"', "restart"),
    ("gateways.gate", "", 'record_store = { env = "RECORDS" }', "restart"),
    ("gateways.gate", "", 'environment = { LIVE_AI_WHIP_ADDR = ":7280" }', "exposure restart"),
    ("gateways.gate", "", 'kafka = { broker = "kafka.example.net:9092", topic = "events" }', "restart"),
    ("gateways.gate", "", 'metadata_queue = { uri = { env = "QUEUE" } }', "restart"),
    ("orchestrators.orch", '"1200 wei / pixel"', '"1300 wei / pixel"', "price live"),
    ("orchestrators.orch", '"1200 wei / pixel"', '"1600 wei / pixel"', "price live"),
    ("orchestrators.orch", '"1200 wei / pixel"', '"0.5 USD / 1000000000000 pixels"', "price cold-start restart"),
    ("orchestrators.orch", '"1200 wei / pixel"', '"2400 wei / 2 pixels"', "live"),
    ("orchestrators.orch", '"1200 wei / pixel"', '"1200.01 wei / pixel"', "price live"),
    ("orchestrators.orch", '"1200 wei / pixel"', '"1400 wei / pixel"', "price live"),
    ("orchestrators.orch", '"realvis", warm = true', '"realvis", warm = false', "cold-start restart"),
    ("orchestrators.orch", "", 'gateway_prices = { gate = "1000 wei / pixel" }', "price live"),
    ("orchestrators.orch", "ai_registry = true", "ai_registry = false", "chain price cold-start restart"),
    ("orchestrators.orch", "max_sessions = 12", "max_sessions = 10", "capacity live"),
    (
        "orchestrators.orch",
        '  { use = "whisper", warm = true, capacity = 1 },',
        "",
        "price capacity cold-start restart",
    ),
    (
        "orchestrators.orch",
        '"realvis", warm = true',
        '"realvis", price = "4000000 wei / pixel", warm = true',
        "price cold-start restart",
    ),
    ("orchestrators.orch", '"realvis", warm = true, capacity = 1', '"realvis", warm = true', "cold-start restart"),
    ("orchestrators.orch", '"whisper", warm = true, ', '"whisper", ', "cold-start restart"),
    ("orchestrators.orch", '"10 gwei"', '"12 gwei"', "funds cold-start restart"),
    ("orchestrators.orch", "", 'max_face_value = "0.01 ETH"', "funds cold-start restart"),
    ("orchestrators.orch", "", "auto_adjust_price = false", "price cold-start restart"),
    ("orchestrators.orch", "", f'price_feed = "{_WALLET}"', "price cold-start restart"),
    ("orchestrators.orch", "", f'orchestrator_address = "{_WALLET}"', "identity funds cold-start restart"),
    (
        "orchestrators.orch",
        "",
        'service = "orch.example.net:9000"',
        "identity chain exposure cold-start restart",
    ),
    ("orchestrators.orch", "", 'service = "orch-2.example.net:8935"', "identity chain cold-start restart"),
    ("orchestrators.orch", "", 'http = "0.0.0.0:9000"', "exposure cold-start restart"),
    ("orchestrators.orch", "", "http_tls = false", "exposure cold-start restart"),
    ("orchestrators.orch", "", 'secret = { env = "ORCH_SECRET" }', "exposure cold-start restart"),
    ("orchestrators.orch", "", 'auth_webhook = "https://auth.example.net/"', "exposure cold-start restart"),
    ("orchestrators.orch", "", 'redeemer = "redeemer.example.net:8935"', "funds cold-start restart"),
    ("orchestrators.orch", "", 'instances = ["https://orch-2.example.net:8935"]', "identity cold-start restart"),
    ("orchestrators.orch", "", 'data_dir = "/srv/orch"', "funds cold-start restart"),
    ("orchestrators.orch", "", 'models_dir = "/srv/models"', "cold-start restart"),
    ("orchestrators.orch", "", "containers_per_gpu = 2", "capacity cold-start restart"),
    ("orchestrators.orch", "", 'block_polling_interval = "20s"', "cold-start restart"),
    ("orchestrators.orch", "", "initialize_round = true", "chain funds cold-start restart"),
    ("orchestrators.orch", "", 'max_gas_price = "2 gwei"', "funds live"),
    ("orchestrators.orch", "", "verbosity = 6", "live"),
    ("orchestrators.orch", "", 'runner_image = "livepeer/ai-runner:v0.14.1"', "cold-start restart"),
    ("orchestrators.orch", "", "hevc_decoding = false", "cold-start restart"),
    ("orchestrators.orch", "", 'node_release = "v0.9.0"', "cold-start restart"),
    ("wallets.payer", '"0.5 ETH"', '"0.7 ETH"', "funds chain"),
    ("wallets.payer", '"0.3 ETH"', '"0.4 ETH"', "funds chain"),
    ("wallets.payer", '"0.05 ETH"', '"0.04 ETH"', "funds"),
    ("wallets.payer", "0x1111111111111111111111111111111111111111", _WALLET, "identity funds chain restart"),
    ("wallets.payer", '"/var/lib/livepeer/keystore"', '"/srv/keystore"', "identity restart"),
    ("wallets.payer", "payer-password", "payer-password-2", "identity restart"),
    ("wallets.payer", "", 'reward_by = "none"', "chain restart"),
    ("wallets.earner", '"0.05 ETH"', '"0.04 ETH"', "funds"),
    (
        "wallets.earner",
        "0x2222222222222222222222222222222222222222",
        _WALLET,
        "identity funds chain cold-start restart",
    ),
    ("wallets.earner", '"/var/lib/livepeer/keystore"', '"/srv/keystore"', "identity cold-start restart"),
    ("wallets.earner", 'reward_by = "orch"', 'reward_by = "none"', "chain cold-start restart"),
    ("models.realvis", '"4768371 wei', '"5000000 wei', "price cold-start restart"),
    ("models.realvis", '"4768371 wei', '"5200000 wei', "price cold-start restart"),
    ("models.whisper", '"0.02 USD', '"0.025 USD', "price cold-start restart"),
    ("models.realvis", '"9 GiB"', '"10 GiB"', "none"),
    ("models.realvis", "RealVisXL_V4.0_Lightning", "RealVisXL_V5.0", "price capacity cold-start restart"),
    ("models.realvis", "", "optimization = { SFAST = true }", "cold-start restart"),
    ("fleet", '"ARBITRUM_RPC_URL"', '"OTHER_RPC_URL"', "funds cold-start restart"),
    ("fleet", '"v0.9.1"', '"v0.9.0"', "cold-start restart"),
    ("fleet", "", f'controller = "{_WALLET}"', "identity funds chain cold-start restart"),
    ("rates", 'USD = "0.00042 ETH"', 'USD = "0.00043 ETH"', "price"),
    ("hosts.edge", '"gateway.example.net"', '"gateway-2.example.net"', "identity"),
    ("hosts.gpu", '"orch.example.net"', '"orch-2.example.net"', "identity chain cold-start restart"),
    ("hosts.edge", '"docker"', '"systemd"', "restart"),
    ("hosts.gpu", '"systemd"', '"docker"', "cold-start restart"),
    ("hosts.gpu", "", 'state_dir = "/srv/livepeer"', "funds cold-start restart"),
    ("hosts.gpu", "", 'node_user = "node"', "cold-start restart"),
    ("hosts.gpu", "", 'rpc = "http://127.0.0.1:8547"', "funds cold-start restart"),
    ("hosts.edge", "", 'rpc = { env = "ARBITRUM_RPC_URL" }', "none"),
    ("gateways.gate", "# FLEET.md tells how long the deposit lasts", "# for the report", "none"),
)

_US_VIDEO_3 = """
[orchestrators.us-video-3]
host = "us-gpu-2"
mode = "video"
wallet = "earner"
http = "0.0.0.0:8936"
cli = "127.0.0.1:7940"
price = "1300 wei / pixel"
max_sessions = 1"""
_US_SECOND = """
[gateways.us-second]
host = "us-edge"
mode = "video"
wallet = "payer"
http = "0.0.0.0:8936"
rtmp = "127.0.0.1:1936"
cli = "127.0.0.1:5940"
http_ingest = true
orchestrators = ["us-video-1"]
max_price = "1400 wei / pixel"
renditions = ["P240p30fps16x9"]"""

TWO_REGIONS: tuple[Row, ...] = (
    ("gateways.eu-live", '"1500 wei / pixel"', '"1450 wei / pixel"', "price restart"),
    ("gateways.eu-live", '"1500 wei / pixel"', '"1250 wei / pixel"', "price restart"),
    ("gateways.eu-live", ', "us-video-1"', "", "price restart"),
    ("gateways.eu-live", '"us-video-1"]', '"us-video-1", "us-video-2"]', "price restart"),
    ("gateways.eu-live", '"eu-video-1", "eu-video-2"', '"eu-video-2", "eu-video-1"', "restart"),
    ("gateways.us-live", '"1400 wei / pixel"', '"1350 wei / pixel"', "price restart"),
    ("gateways.us-live", '"P720p30fps16x9"', '"P720p60fps16x9"', "restart"),
    ("gateways.us-live", "monitor = true", "", "restart"),
    ("gateways.eu-images", '"any"', '"6000000 wei / pixel"', "price restart"),
    ("gateways.eu-images", '"3500000 wei / pixel"', '"3400000 wei / pixel"', "price restart"),
    ("gateways.eu-images", '"3500000 wei / pixel"', '"3300000 wei / pixel"', "price restart"),
    ("gateways.eu-images", ', svd = "3500000 wei / pixel"', "", "price restart"),
    ("gateways.eu-images", "", 'rtmp = "127.0.0.1:1936"', "restart"),
    ("orchestrators.eu-video-1", 'price = "1200 wei', 'price = "1250 wei', "price live"),
    ("orchestrators.eu-video-1", '"1100 wei / pixel"', '"1000 wei / pixel"', "price live"),
    ("orchestrators.eu-video-1", 'gateway_prices = { eu-live = "1100 wei / pixel" }', "", "price restart"),
    ("orchestrators.eu-video-1", "gpus = [0]", "", "capacity restart"),
    (
        "orchestrators.eu-video-1",
        "",
        'service = "eu-gpu-1.example.net:9000"',
        "identity chain exposure restart",
    ),
    ("orchestrators.eu-video-2", '"earner"', '"ai-earner"', "identity funds chain restart"),
    ("orchestrators.eu-video-2", '"1200 wei', '"1600 wei', "price live"),
    ("orchestrators.eu-video-2", "", 'ticket_ev = "9000000000 wei"', "funds restart"),
    ("orchestrators.eu-video-2", "", 'redeemer = "redeemer.example.net:8935"', "funds restart"),
    ("orchestrators.us-video-1", '"1300 wei', '"1350 wei', "price restart"),
    ("orchestrators.us-video-2", '"1300 wei', '"1450 wei', "price restart"),
    (
        "orchestrators.eu-images-1",
        ', { use = "svd", warm = true, capacity = 1 }',
        "",
        "price capacity cold-start restart",
    ),
    ("orchestrators.eu-images-1", "orchestrator-secret", "eu-secret", "exposure cold-start restart"),
    (
        "orchestrators.us-images-1",
        '"pix2pix", warm',
        '"pix2pix", price = "4700000 wei / pixel", warm',
        "price cold-start restart",
    ),
    ("orchestrators.us-video-2", "", _US_VIDEO_3, "exposure price identity funds chain capacity"),
    ("gateways.us-live", "", _US_SECOND, "exposure price identity funds chain capacity"),
    ("wallets.payer", '"1 ETH"', '"2 ETH"', "funds chain"),
    ("wallets.payer", '"0.5 ETH"', '"0.6 ETH"', "funds chain"),
    ("wallets.payer", '"0.05 ETH"', '"0.04 ETH"', "funds"),
    ("wallets.payer", "payer-password", "payer-password-2", "identity restart"),
    ("wallets.payer", "0x1111111111111111111111111111111111111111", _WALLET, "price identity funds chain restart"),
    ("wallets.earner", '"eu-video-1"', '"eu-video-2"', "chain restart"),
    ("wallets.earner", "0x2222222222222222222222222222222222222222", _WALLET, "identity funds chain restart"),
    ("wallets.ai-earner", '"/var/lib/livepeer/keystore"', '"/srv/keystore"', "identity cold-start restart"),
    ("wallets.ai-earner", '"0.05 ETH"', '"0.04 ETH"', "funds"),
    ("models.svd", '"3390842 wei', '"3450000 wei', "price cold-start restart"),
    ("models.svd", '"3390842 wei', '"3600000 wei', "price cold-start restart"),
    ("models.svd", "DEEPCACHE = false", "DEEPCACHE = true", "cold-start restart"),
    ("models.pix2pix", '"7 GiB"', '"8 GiB"', "none"),
    ("hosts.eu-edge-1", '"eu-1.example.net"', '"eu-9.example.net"', "identity"),
    ("hosts.eu-gpu-1", '"eu-gpu-1.example.net"', '"eu-gpu-9.example.net"', "identity chain restart"),
    ("hosts.us-ai", '"us-ai.example.net"', '"us-ai-9.example.net"', "identity chain cold-start restart price"),
    ("hosts.us-edge", '"198.51.100.10"', '"198.51.100.20"', "identity"),
    ("hosts.us-gpu-1", '"docker"', '"systemd"', "restart"),
    ("rollout", "canary = 1", "canary = 2", "none"),
    ("rollout", '"25%"', "3", "none"),
    ("rollout", "", 'live = "never"', "none"),
    ("fleet", '"ARBITRUM_RPC_URL"', '"OTHER_RPC_URL"', "funds cold-start restart"),
    ("fleet", '"two-regions"', '"two-continents"', "identity"),
    ("", "# Two regions, three gateways", "# Two regions; three gateways", "none"),
)


AVATAR_STAGE: tuple[Row, ...] = (
    ("avatars.front", '"203.0.113.64/29"', '"203.0.113.64/28"', "exposure restart"),
    ("avatars.front", '"203.0.113.64/29"', '"203.0.113.64/30"', "exposure restart"),
    ("avatars.front", '"203.0.113.64/29"', '"203.0.113.64/30", "203.0.113.68/30"', "exposure restart"),
    ("avatars.front", '"203.0.113.64/29"]', '"203.0.113.64/29", "203.0.113.80"]', "exposure restart"),
    ("avatars.front", '  { avatar = "noor", gpu = 1 },', "", "capacity exposure restart"),
    ("avatars.front", 'avatar = "noor"', 'avatar = "nora"', "restart"),
    ("avatars.front", "", "remote_ops = false", "exposure restart"),
    ("avatars.front", "", 'runner_token = { env = "SCRIPTS_OF_FRONT" }', "exposure restart"),
    ("avatars.front", "", 'session_dir = "/srv/sessions"', "restart"),
    ("avatars.front", "", "signaling_rest_api = true", "exposure restart"),
    ("avatars.front", "", 'recorder_signaling = "ws://unreal-signaling:8888"', "restart"),
    ("avatars.front", "game_open_files = 4096", "game_open_files = 8192", "restart"),
    ("avatars.front", "ConsoleVariables.lowload.30fps.720p.ini", "ConsoleVariables.ini", "restart"),
    ("avatars.front.images", "signaling@sha256:e24", "signaling@sha256:f24", "restart"),
    ("avatars.front.images", "turn-server@sha256:9b4", "turn-server@sha256:8b4", "restart"),
    ("avatars.front.registration", '"stage-1.eu-west"', '"stage-1.eu"', "identity restart"),
    ("avatars.back", '"orin", gpu = 1', '"orin", gpu = 0', "restart"),
    ("avatars.back", '"vega", gpu = 1, game_command = false', '"vega", gpu = 1', "restart"),
    ("avatars.front.payments", '"198.51.100.90"]', '"198.51.100.91"]', "exposure restart"),
    ("avatars.front.payments", '"http://198.51.100.90:8081"', '"http://198.51.100.90:8082"', "restart"),
    ("avatars.front.registration", '"stage-1"', '"stage-one"', "identity restart"),
    ("avatars.front.turn", '"turn_user"', '"another_user"', "exposure restart"),
    ("avatars.front.turn", '"turn_password"', '"another_password"', "exposure restart"),
    ("avatars.front.turn", "", "port = 3479", "exposure restart"),
    ("fleet", '"v1.3.6"', '"v1.3.5"', "restart"),
    ("ladders.stage", "800000", "900000", "restart"),
    ("ladders.mobile", "250000", "300000", "none"),
    ("streams.stage-main", "bitrate = 3000000", "bitrate = 2500000", "none"),
    ("streams.stage-main", '"jwt"', '"public"', "exposure"),
    ("streams.stage-main", '"https://stage.example.net"', '"https://b.example.net"', "exposure"),
    ("streams.camera", "", '\n[streams.second]\ngateway = "gate"\nladder = "stage"', "exposure"),
    ("streams.stage-main", "floor = 1", "floor = 2", "none"),
    ("streams.stage-mobile", 'type = "public"', 'type = "jwt"', "exposure"),
    ("streams.stage-mobile", 'playbackPolicy = { type = "public" }', "", "exposure"),
    ("streams.camera", "live.m3u8", "low.m3u8", "none"),
    ("streams.camera", "CAMERA_AUTHORIZATION", "CAMERA_TOKEN", "none"),
    ("streams.camera", 'profile = "720p"', 'profile = "360p"', "none"),
    ("streams.camera", "", "suspended = true", "none"),
    ("monitoring.project", ":9091", ":9092", "exposure"),
    ("monitoring.project", "", 'grafana = "127.0.0.1:3001"', "none"),
    ("monitoring.project", "", "alertmanager_port = 9094", "none"),
    ("monitoring.project", "/webhook", "/other", "none"),
    ("monitoring", "", 'scrape_interval = "30s"', "none"),
    (
        "hosts.stage-1",
        'public = "203.0.113.11"',
        'public = "203.0.113.21"',
        "identity chain cold-start restart exposure",
    ),
    ("hosts.stage-2", 'public = "203.0.113.12"', 'public = "203.0.113.22"', "identity restart"),
    ("gateways.gate", '"https://control.example.net/ingest"', '"https://control.example.net/v2"', "exposure restart"),
    ("orchestrators.orch", '"1200 wei / pixel"', '"1250 wei / pixel"', "price cold-start restart"),
)


class Edited(NamedTuple):
    """One edit of an example fleet, its label, and the line that it changes in the text before and after."""

    fleet: str
    place: str
    before: str
    after: str
    classes: frozenset[str]

    @property
    def name(self) -> str:
        """What is changed, in words."""
        return f"{self.fleet} {self.place}: {self.before or 'nothing'} -> {self.after or 'nothing'}".replace("\n", " ")

    def apply(self, text: str) -> tuple[str, range, range]:
        """The edited text, and the lines of the edit before and after, from 1; empty where there is none."""
        lines = text.split("\n")
        head = lines.index(f"[{self.place}]") if self.place else -1
        end = next((n for n in range(head + 1, len(lines)) if lines[n].startswith("[")), len(lines))
        if not self.before:
            at = max(n for n in range(head, end) if lines[n].strip()) + 1
            added = self.after.split("\n")
            return "\n".join([*lines[:at], *added, *lines[at:]]), range(0), range(at + 1, at + 1 + len(added))
        at = next(n for n in range(head + 1, end) if self.before in lines[n])
        line = lines[at].replace(self.before, self.after, 1)
        if not line.strip():
            return "\n".join([*lines[:at], *lines[at + 1 :]]), range(at + 1, at + 2), range(0)
        return "\n".join([*lines[:at], line, *lines[at + 1 :]]), range(at + 1, at + 2), range(at + 1, at + 2)


EDITS: tuple[Edited, ...] = tuple(
    Edited(fleet, place, before, after, frozenset(classes.split()))
    for fleet, rows in (
        ("demo", DEMO),
        ("ai-split", AI_SPLIT),
        ("dual-onchain", DUAL_ONCHAIN),
        ("two-regions", TWO_REGIONS),
        ("avatar-stage", AVATAR_STAGE),
    )
    for place, before, after, classes in rows
)
