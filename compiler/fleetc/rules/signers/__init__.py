"""Remote signers, and the gateways behind them."""
