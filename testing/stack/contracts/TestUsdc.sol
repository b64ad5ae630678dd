// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";

/**
 * A stand-in for USD Coin on a chain of our own: its name, decimals, signing domain and EIP-3009 calls. Anybody
 * may mint. ERC3009 takes any unused 32 bytes as authorization nonce, as USD Coin does;
 * OpenZeppelin's ERC20TransferAuthorization wants them in sequence and would not be like it.
 */
contract TestUsdc is ERC20, ERC3009 {
    constructor() ERC20("USD Coin", "USDC") EIP712("USD Coin", "2") {}

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function version() external pure returns (string memory) {
        return "2";
    }

    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
