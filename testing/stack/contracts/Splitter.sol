// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

/**
 * Pays ether out by internal calls, as exchanges and smart wallets do: the receiver is in no transaction's
 * `to` and in no log.
 */
contract Splitter {
    function split(address payable[] calldata to) external payable {
        uint256 part = msg.value / to.length;
        for (uint256 i = 0; i < to.length; i++) {
            (bool sent, ) = to[i].call{value: part}("");
            require(sent, "not taken");
        }
    }
}
