// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

// What the node reads of the protocol, for a chain of the tests. Anybody may set anything.
// protocol.json has what solc makes of it; tests/chain/test_protocol.py compares both.

contract Controller {
    mapping(bytes32 => address) public getContract;

    function setContract(bytes32 id, address to) external {
        getContract[id] = to;
    }
}

contract TicketBroker {
    struct Sender { uint256 deposit; uint256 withdrawRound; }
    struct ReserveInfo { uint256 fundsRemaining; uint256 claimedInCurrentRound; }

    mapping(address => Sender) private senders;
    mapping(address => ReserveInfo) private reserves;

    function setSender(address who, uint256 deposit, uint256 withdrawRound, uint256 funds) external {
        senders[who] = Sender(deposit, withdrawRound);
        reserves[who] = ReserveInfo(funds, 0);
    }

    function getSenderInfo(address who) external view returns (Sender memory sender, ReserveInfo memory reserve) {
        return (senders[who], reserves[who]);
    }
}

contract BondingManager {
    mapping(address => bool) public isActiveTranscoder;

    function setActive(address who, bool active) external {
        isActiveTranscoder[who] = active;
    }
}

contract ServiceRegistry {
    mapping(address => string) public getServiceURI;

    function setServiceURI(address who, string calldata uri) external {
        getServiceURI[who] = uri;
    }
}

contract PriceFeed {
    string public description = "ETH / USD";
    uint8 public constant decimals = 8;
    int256 private price = 3000 * 10 ** 8;

    function set(string calldata pair, int256 amount) external {
        description = pair;
        price = amount;
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return (1, price, block.timestamp, block.timestamp, 1);
    }
}
